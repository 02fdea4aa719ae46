//! Takes connections, and bounds what each can cost.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep};

/// Bytes of the head of a request.
const LONGEST_HEAD: usize = 8 << 10;
/// The time for the head of a request, and between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// A client that takes nothing for this time is gone; it can come back.
const STALL_TIMEOUT: Duration = Duration::from_mins(1);
/// Connections beside those of the readers that go on.
const SHORT_CONNECTIONS: usize = 64;
/// Until the next try, where there are no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

const BUSY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Serves `router` until the process is ended.
pub(crate) async fn serve(listener: TcpListener, router: Router, readers: usize) {
    let places = Arc::new(Semaphore::new(readers.saturating_add(SHORT_CONNECTIONS)));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            let _ = stream.try_write(BUSY);
            continue;
        };
        let router = router.clone();
        tokio::spawn(async move {
            // A connection that breaks is the client's affair.
            let _ = connection(stream, router).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, router: Router) -> hyper::Result<()> {
    let _ = stream.set_nodelay(true);
    let stream = Stalling {
        stream,
        stall: Box::pin(sleep(STALL_TIMEOUT)),
        is_stalled: false,
    };
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(LONGEST_HEAD)
        .max_buf_size(LONGEST_HEAD * 2)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    poll_fn(|context| Pin::new(&mut connection).poll(context)).await
}

/// A stream whose writes fail when the other side takes nothing for long.
#[derive(Debug)]
struct Stalling {
    stream: TcpStream,
    stall: Pin<Box<Sleep>>,
    is_stalled: bool,
}

impl Stalling {
    /// What becomes of a write that came to `written`.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_stalled = false;
            return written;
        }
        if !self.is_stalled {
            self.is_stalled = true;
            self.stall.as_mut().reset(Instant::now() + STALL_TIMEOUT);
        }
        ready!(self.stall.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Stalling {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stalling {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
