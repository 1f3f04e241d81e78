//! The parts of the `tenure` command that other programs and the fuzz targets use.
