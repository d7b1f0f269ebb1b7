//! A channel between tasks of one thread.
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

struct State<T> {
    queue: VecDeque<T>,
    waiting: Option<Waker>,
    closed: bool,
}

impl<T> State<T> {
    fn wake(&mut self) {
        if let Some(w) = self.waiting.take() {
            w.wake();
        }
    }
}

pub struct Sender<T>(Rc<RefCell<State<T>>>);
pub struct Receiver<T>(Rc<RefCell<State<T>>>);

pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = Rc::new(RefCell::new(State {
        queue: VecDeque::new(),
        waiting: None,
        closed: false,
    }));
    (Sender(Rc::clone(&state)), Receiver(state))
}

impl<T> Sender<T> {
    pub fn send(&self, value: T) {
        let mut s = self.0.borrow_mut();
        s.queue.push_back(value);
        s.wake();
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut s = self.0.borrow_mut();
        s.closed = true;
        s.wake();
    }
}

impl<T> Receiver<T> {
    /// The next value, or none when the sender is gone and the queue empty.
    pub fn recv(&self) -> impl Future<Output = Option<T>> {
        poll_fn(|cx| {
            let mut s = self.0.borrow_mut();
            match s.queue.pop_front() {
                Some(v) => Poll::Ready(Some(v)),
                None if s.closed => Poll::Ready(None),
                None => {
                    s.waiting = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}
