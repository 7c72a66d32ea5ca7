//! The connection on which the bell hears: its own, since one that listens cannot
//! go back to the pool.

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::poll_fn;
use tokio_postgres::{AsyncMessage, Client, Notification};

use crate::store::postgres::connect::{Connector, NoConnection};

/// Opens such connections.
#[derive(Clone)]
pub(super) struct Line(Connector);

/// What is sent on one, and the task that it takes: whoever opened the connection
/// has to drive it, and it ends with the connection.
pub(super) struct Open {
    pub(super) client: Client,
    pub(super) driver: BoxFuture<'static, ()>,
}

impl Line {
    pub(super) fn new(connector: Connector) -> Self {
        Self(connector)
    }

    /// A connection; `heard` is called for each notification.
    pub(super) async fn open(
        &self,
        heard: impl Fn(&Notification) + Send + 'static,
    ) -> Result<Open, NoConnection> {
        let (client, mut connection) = self.0.dial().await?;
        let driver = Box::pin(async move {
            let mut messages = poll_fn(|context| connection.poll_message(context));
            while let Some(message) = messages.next().await {
                match message {
                    Ok(AsyncMessage::Notification(notification)) => heard(&notification),
                    // Of notices nobody need know.
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(%error, "the bell's connection broke");
                        return;
                    }
                }
            }
        });
        Ok(Open { client, driver })
    }
}
