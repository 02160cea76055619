//! Back-pressure, and how a session ends.

use super::*;

#[tokio::test]
async fn the_end_of_the_client_waits_for_what_is_out() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.call("1").await;
    bench.client.close();
    bench.answer(&1.into(), "{}").await;
    let (end, journal, rest) = bench.end().await;
    assert_eq!(rest, [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    assert_eq!((end.upstream_died, journal.told()), (false, vec!["echo settled done".into()]));
}

#[tokio::test]
async fn what_is_out_when_the_waiting_ends_is_answered_and_in_doubt() {
    let mut bench = Bench::listed(ECHO, |settings| settings.drain = Duration::from_millis(20)).await;
    bench.call("1").await;
    bench.client.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    let (_, journal, mut rest) = bench.end().await;
    rest.sort();
    assert_eq!(rest.len(), 2);
    assert!(rest.iter().all(|line| line.contains("gate-stopped")), "{rest:?}");
    assert_eq!(journal.told(), ["echo open unknown gate-stopped in doubt"]);
}

#[tokio::test]
async fn calls_that_arrive_right_before_the_end_of_the_client_are_made() {
    let mut bench = Bench::start(|_| {});
    bench.client.send(&call("1", "echo", "{}")).await;
    bench.client.close();
    bench.list(ECHO).await;
    assert_eq!(bench.upstream.line().await, call("1", "echo", "{}"));
    bench.answer(&1.into(), "{}").await;
    let (_, journal, rest) = bench.end().await;
    assert_eq!((rest.len(), journal.told()), (1, vec!["echo settled done".into()]));
}

#[tokio::test]
async fn a_signal_stops_what_is_not_yet_sent_and_does_not_wait_twice() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.journal.hold(usize::MAX);
    bench.client.send(&call("1", "echo", "{}")).await;
    bench.client.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    bench.upstream.line().await;
    bench.stop.send(Stop::Drain).unwrap();
    bench.stop.send(Stop::Now).unwrap();
    // The client goes on and is not heard.
    let answer = bench.client.json().await;
    assert_eq!((&answer["id"], code(&answer)), (&2.into(), "gate-stopped"));
    bench.client.send(r#"{"jsonrpc":"2.0","id":9,"method":"resources/list"}"#).await;
    bench.journal.release();
    let answer = bench.client.json().await;
    assert_eq!((&answer["id"], code(&answer)), (&1.into(), "gate-stopped"));
    assert_eq!(bench.journal.told(), ["echo refused none call-cancelled"]);
    assert_eq!(bench.client.next().await, None);
    assert_eq!(bench.upstream.next().await, None, "nothing else has left");
}

#[tokio::test]
async fn two_peers_that_only_write_hold_a_bounded_part_and_lose_nothing() {
    const LINES: usize = 3_000;
    let mut bench = Bench::with_buffers(1 << 10, |settings| settings.held_bytes_max = 64 << 10);
    let notice = |number: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"n":{number},"x":"{}"}}}}"#,
            "y".repeat(500)
        )
    };
    let written = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let flood = |mut writer: DuplexStream| {
        let written = Arc::clone(&written);
        async move {
            for number in 0..LINES {
                writer.write_all(format!("{}\n", notice(number)).as_bytes()).await.unwrap();
                written.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            }
            writer
        }
    };
    let client = tokio::spawn(flood(bench.client.writer.take().unwrap()));
    let upstream = tokio::spawn(flood(bench.upstream.writer.take().unwrap()));
    // Until nothing moves any more: both peers write and neither reads.
    let mut before = usize::MAX;
    loop {
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        let now = written.load(std::sync::atomic::Ordering::SeqCst);
        if now == before {
            break;
        }
        before = now;
    }
    assert!(before < 1_000, "{before} lines of {} bytes are held", notice(0).len());
    for number in 0..LINES {
        assert_eq!(bench.client.line().await, notice(number));
    }
    for number in 0..LINES {
        assert_eq!(bench.upstream.line().await, notice(number));
    }
    bench.client.writer = Some(client.await.unwrap());
    bench.upstream.writer = Some(upstream.await.unwrap());
    bench.ping().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_refusals_is_not_read_either() {
    let mut bench = Bench::with_buffers(1 << 10, |_| {});
    let mut writer = bench.client.writer.take().unwrap();
    let sent = tokio::spawn(async move {
        for _ in 0..20_000 {
            writer.write_all(b"nonsense\n").await.unwrap();
        }
        writer
    });
    let mut moves = 0;
    while moves < 2_000 && !sent.is_finished() {
        tokio::task::yield_now().await;
        moves += 1;
    }
    assert!(!sent.is_finished(), "its refusals pile up");
    for _ in 0..20_000 {
        assert_eq!(code(&bench.client.json().await), "frame-invalid");
    }
    bench.client.writer = Some(sent.await.unwrap());
    bench.ping().await;
}

#[tokio::test]
async fn a_client_that_is_gone_and_has_read_nothing_holds_the_end_up_no_longer_than_the_drain() {
    let mut bench = Bench::with_buffers(1 << 10, |settings| settings.drain = Duration::from_millis(50));
    let mut writer = bench.client.writer.take().unwrap();
    let sent = tokio::spawn(async move {
        for _ in 0..20_000 {
            if writer.write_all(b"nonsense\n").await.is_err() {
                return;
            }
        }
    });
    for _ in 0..2_000 {
        tokio::task::yield_now().await;
    }
    assert!(!sent.is_finished() && !bench.session.is_finished());
    bench.hang_up.send(()).unwrap();
    let end = tokio::time::timeout(PATIENCE, bench.session).await.expect("an end in time").unwrap();
    assert!(!end.upstream_died);
}

#[tokio::test]
async fn what_a_client_wrote_before_it_hung_up_is_taken() {
    let mut bench = Bench::listed(ECHO, |_| {}).await;
    bench.hang_up.send(()).unwrap();
    tokio::task::yield_now().await;
    let frame = call("1", "echo", "{}");
    bench.client.send(&frame).await;
    bench.client.close();
    assert_eq!(bench.upstream.line().await, frame);
    bench.upstream.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!(bench.client.line().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    bench.session.await.unwrap();
    assert_eq!(bench.journal.told(), ["echo settled done"]);
}
