//! A server that answers, or fails to, exactly as it is told: byte by byte, on threads of its own.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What the server does with a request that it has read.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Does nothing for a while.
    Pause(Duration),
    /// Does nothing until the client goes away.
    Hang,
    /// Closes the connection.
    Close,
}

/// Chooses what to do with a request, by its number, from 0, and its text.
type Script = dyn Fn(usize, &str) -> Vec<Step> + Send + Sync;

/// A server, until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<String>>,
    connections: AtomicUsize,
    stopped: AtomicBool,
}

impl Server {
    /// A server on a free port of this machine.
    pub(crate) fn start(script: impl Fn(usize, &str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let script: Arc<Script> = Arc::new(script);
        let served = Arc::clone(&shared);
        let listening = thread::spawn(move || {
            for stream in listener.incoming() {
                if served.stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                served.connections.fetch_add(1, Ordering::SeqCst);
                let (shared, script) = (Arc::clone(&served), Arc::clone(&script));
                thread::spawn(move || serve(stream, &shared, &*script));
            }
        });
        Server { address, shared, listening: Some(listening) }
    }

    /// A server that does the same with every request.
    pub(crate) fn always(steps: Vec<Step>) -> Self {
        Server::start(move |_, _| steps.clone())
    }

    /// The root of its API.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far, each with its headers and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The listener waits for a connection; this is the last.
        let _ = TcpStream::connect(self.address);
        // From here on nobody answers at the address.
        let _ = self.listening.take().map(JoinHandle::join);
    }
}

/// A client may go away at any time, which ends the thread and fails no test.
fn serve(mut stream: TcpStream, shared: &Shared, script: &Script) {
    let _ = stream.set_nodelay(true);
    while let Some(request) = read_request(&mut stream) {
        let number = {
            let mut requests = shared.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len() - 1
        };
        for step in script(number, &request) {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).is_err() {
                        return;
                    }
                }
                Step::Pause(time) => thread::sleep(time),
                Step::Hang => {
                    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                    let _ = stream.read(&mut [0; 64]);
                    return;
                }
                Step::Close => {
                    let _ = stream.shutdown(Shutdown::Both);
                    return;
                }
            }
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text.into_owned());
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(size) => bytes.extend_from_slice(&piece[..size]),
        }
    }
}

/// A whole answer with its length; `status` such as `200 OK`, `more` further header lines, each with its line break.
pub(crate) fn whole(status: &str, more: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\n{more}content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A stream of events in one chunk, without the chunk that ends it.
pub(crate) fn stream(body: &[u8]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                transfer-encoding: chunked\r\n\r\n";
    [head.as_bytes(), &chunk(body)].concat()
}

/// One chunk; an empty one ends the answer.
pub(crate) fn chunk(body: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat()
}
