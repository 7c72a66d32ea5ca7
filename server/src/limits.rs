//! Every timeout, size and pool bound of the server.
//!
//! Limits of the API's fields are in [`promptarium::limits`], which the SDK shares. Settings
//! that an operator can change have their defaults here.

// Connections and requests.

// PostgreSQL.

// Generations.

// Uploads and assets.
