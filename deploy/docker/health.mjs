// Checks whether the process in this container is ready: asks its metrics port, 9090 unless the
// first argument says otherwise (9091 for `work`, 9092 for `cabinet`, 9093 for `console`).
const port = process.argv[2] ?? '9090'
const reply = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
process.exit(reply?.ok === true ? 0 : 1)
