//! Connections: one a server or bucket, and the threads that wait for their answers.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, HeaderValue, ObjectStore, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use crate::address::{Address, Scheme};
use crate::failure::failure;

/// How often a request is made again that failed for a reason that may pass.
const RETRIES: usize = 3;

/// All connections of the process.
#[derive(Debug)]
pub(crate) struct Servers {
    runtime: Runtime,
    stores: Mutex<HashMap<(Scheme, String), Arc<dyn ObjectStore>>>,
    patience: Duration,
}

impl Servers {
    /// Starts the thread that waits for answers.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(crate) fn start(patience: Duration) -> io::Result<Servers> {
        // Another part of the process may have chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("addresses")
            .enable_all()
            .build()?;
        Ok(Servers { runtime, stores: Mutex::default(), patience })
    }

    /// Does something with the store that an address lies in, and waits for it. May be called from
    /// any thread.
    ///
    /// # Errors
    /// The request fails; see [`failure`].
    pub(crate) fn ask<T, F>(
        &self,
        address: &Address,
        request: impl FnOnce(Arc<dyn ObjectStore>) -> F,
    ) -> io::Result<T>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let store = self.store(address)?;
        let (tell, told) = mpsc::sync_channel(1);
        let answer = request(store);
        self.runtime.spawn(async move {
            // Nobody may be left to hear it.
            let _ = tell.send(answer.await);
        });
        let answer = told.recv().map_err(io::Error::other)?;
        answer.map_err(|error| failure(&error, address))
    }

    fn store(&self, address: &Address) -> io::Result<Arc<dyn ObjectStore>> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (address.scheme, address.host.clone());
        if let Some(store) = stores.get(&of) {
            return Ok(Arc::clone(store));
        }
        let store = self.connect(address).map_err(|error| failure(&error, address))?;
        stores.insert(of, Arc::clone(&store));
        Ok(store)
    }

    /// Makes ready for a server or bucket; nothing is sent yet.
    fn connect(&self, address: &Address) -> object_store::Result<Arc<dyn ObjectStore>> {
        let patience = self.patience;
        let options = ClientOptions::new()
            .with_user_agent(user_agent())
            .with_timeout(patience)
            .with_connect_timeout(patience.min(Duration::from_secs(10)));
        let retry = RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(3),
                ..BackoffConfig::default()
            },
            max_retries: RETRIES,
            retry_timeout: patience.saturating_mul(2),
        };

        let host = &address.host;
        let http = |scheme: &str, clear: bool| {
            let server = HttpBuilder::new()
                .with_url(format!("{scheme}://{host}"))
                .with_client_options(options.clone().with_allow_http(clear))
                .with_retry(retry.clone());
            Ok(Arc::new(server.build()?) as Arc<dyn ObjectStore>)
        };

        match address.scheme {
            Scheme::Http => http("http", true),
            Scheme::Https => http("https", false),
            Scheme::S3 => {
                let clear = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
                let clear = clear.iter().find_map(|name| std::env::var(name).ok());
                let clear = clear.is_some_and(|endpoint| endpoint.starts_with("http:"));
                let bucket = AmazonS3Builder::from_env()
                    .with_bucket_name(host)
                    .with_client_options(options.with_allow_http(clear))
                    .with_retry(retry);
                Ok(Arc::new(bucket.build()?))
            }
        }
    }
}

fn user_agent() -> HeaderValue {
    HeaderValue::from_static(concat!("hoffman/", env!("CARGO_PKG_VERSION")))
}
