//! The command as users call it: arguments, standard input, output, exit status.

mod codec;
