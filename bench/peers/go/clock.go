package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// A moment on three clocks, in nanoseconds.
type moment struct {
	thread, process, wall int64
}

func now() moment {
	return moment{clock(unix.CLOCK_THREAD_CPUTIME_ID), clock(unix.CLOCK_PROCESS_CPUTIME_ID), time.Now().UnixNano()}
}

func (m moment) since(begin moment) moment {
	return moment{m.thread - begin.thread, m.process - begin.process, m.wall - begin.wall}
}

func clock(id int32) int64 {
	var time unix.Timespec
	if err := unix.ClockGettime(id, &time); err != nil {
		fail(err.Error())
	}
	return time.Nano()
}
