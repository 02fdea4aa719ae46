//! Tools joined by pipes, the way a shell joins them.
