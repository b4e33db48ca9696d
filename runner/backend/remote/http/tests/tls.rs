//! `ca`: certificates of one's own. The key in `tls.pem` protects nothing: it is for this test alone.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

/// The address of a server that answers one request over TLS.
fn serve_once() -> String {
    let pem = include_bytes!("tls.pem");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(pem).unwrap()],
            PrivateKeyDer::from_pem_slice(pem).unwrap(),
        )
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut reader = BufReader::new(StreamOwned::new(connection, stream));
        let mut line = String::new();
        // A client that does not trust us ends the handshake, and with it the thread.
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
        }
        let _ = reader.get_mut().write_all(&whole("200 OK", "", "application/json", b"{}"));
    });
    url
}

fn ask_with(ca: &str) -> Received {
    let mut target = target(&serve_once());
    target.ca = Some(
        format!("{}/runner/backend/remote/http/tests/{ca}", env!("CARGO_MANIFEST_DIR")).into(),
    );
    let http = hasty(&target, &opening(1, 2));
    block(http.call(Call { body: None, ..chat() }))
}

#[test]
fn a_named_certificate_is_trusted() {
    let received = ask_with("tls.pem");
    assert!(received.is_success(), "{:?}", received.broke);
}

#[test]
fn any_other_is_not_and_is_not_asked_again() {
    let received = ask_with("other.pem");
    let text = received.broke.unwrap().to_string();
    assert!(text.contains("its certificate is not trusted"), "{text}");
    assert!(text.ends_with("name the certificate to trust with `ca` in targets.yaml"), "{text}");
    assert_eq!((received.status, received.wire.attempts.len()), (0, 1));
}
