//! Sending a call, an upload and the rest, and waiting for what comes of it.

use super::Blocking;
use crate::client::assets::GetAsset;
use crate::client::call::{Call, Endpoint};
use crate::client::generations::Wait;
use crate::client::uploads::UploadImage;
use crate::client::{Asset, Error, FinishedGeneration, UploadedImage, WithMeta};

/// Of a [`blocking::Client`](crate::blocking::Client).
impl<E: Endpoint> Call<E, Blocking> {
    /// Sends the call, and blocks until the answer is there.
    ///
    /// # Errors
    ///
    /// As for every [`Call`].
    pub fn send(self) -> Result<E::Output, Error> {
        let Blocking(runtime) = self.client.mode.clone();
        runtime.block_on(async { E::read(self.reply().await?) })
    }

    /// Sends the call, and gives the answer's status, headers, request id and body
    /// beside the value.
    ///
    /// # Errors
    ///
    /// As for every [`Call`].
    pub fn send_with_meta(self) -> Result<WithMeta<E::Output>, Error> {
        let Blocking(runtime) = self.client.mode.clone();
        runtime.block_on(self.with_meta())
    }
}

/// Of a [`blocking::Client`](crate::blocking::Client).
impl UploadImage<Blocking> {
    /// Uploads the image, and blocks until it is live.
    ///
    /// # Errors
    ///
    /// As for every [`UploadImage`].
    pub fn send(self) -> Result<UploadedImage, Error> {
        let Blocking(runtime) = self.client.mode.clone();
        runtime.block_on(self.run_in_time())
    }
}

/// Of a [`blocking::Client`](crate::blocking::Client).
impl GetAsset<Blocking> {
    /// Fetches the asset, and blocks until all of it is there.
    ///
    /// # Errors
    ///
    /// As for every [`GetAsset`].
    pub fn send(self) -> Result<Asset, Error> {
        let Blocking(runtime) = self.client.mode.clone();
        runtime.block_on(self.run())
    }
}

/// Of a [`blocking::Client`](crate::blocking::Client).
impl Wait<Blocking> {
    /// Blocks until the job has ended.
    ///
    /// # Errors
    ///
    /// As for every [`Wait`].
    pub fn send(self) -> Result<FinishedGeneration, Error> {
        let Blocking(runtime) = self.mode.clone();
        runtime.block_on(self.run())
    }
}
