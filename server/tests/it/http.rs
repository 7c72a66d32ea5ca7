//! What any client of HTTP may expect of any server: methods, other origins, encodings, traces.

mod cors;
mod gzip;
mod methods;
