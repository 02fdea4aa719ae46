//! The body of an answer that goes on: pieces from a channel, and a sign of life
//! where there is none for a while.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use http_body::Frame;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep};

/// A comment, which every reader of the format skips.
const HEARTBEAT: &[u8] = b":\n\n";
/// The longest silence. Something between here and the reader may take a longer one
/// for the end.
const SILENCE: Duration = Duration::from_secs(15);

/// One of the places for readers; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Place {
    /// Takes a place, if fewer than `most` are taken.
    pub(crate) fn take(taken: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let more = |number: usize| (number < most).then_some(number + 1);
        let is_free = taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        is_free.is_ok().then(|| Self(Arc::clone(taken)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The body. When it is dropped, the sender of its channel notices.
#[derive(Debug)]
pub(crate) struct StreamBody {
    pieces: mpsc::Receiver<Bytes>,
    /// Ends at the next sign of life; plain text has none.
    silence: Option<Pin<Box<Sleep>>>,
    _place: Place,
}

impl StreamBody {
    pub(crate) fn new(pieces: mpsc::Receiver<Bytes>, has_heartbeat: bool, place: Place) -> Self {
        Self {
            pieces,
            silence: has_heartbeat.then(|| Box::pin(sleep(SILENCE))),
            _place: place,
        }
    }
}

impl HttpBody for StreamBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match self.pieces.poll_recv(context) {
            Poll::Ready(piece) => piece,
            Poll::Pending => {
                let is_silent = self.silence.as_mut().map(|it| it.as_mut().poll(context));
                if is_silent != Some(Poll::Ready(())) {
                    return Poll::Pending;
                }
                Some(Bytes::from_static(HEARTBEAT))
            }
        };
        if let Some(silence) = &mut self.silence {
            silence.as_mut().reset(Instant::now() + SILENCE);
            // The clock wakes this task only if it was asked since it was set.
            let _ = silence.as_mut().poll(context);
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }
}
