// The container's health check: whether the process answers. Readiness is for load balancers: a
// container that waits for its database must not be restarted.
const port = process.env.PORT ?? 8080
const response = await fetch(`http://127.0.0.1:${port}/healthz`, {
  signal: AbortSignal.timeout(2000),
}).catch(() => undefined)
process.exit(response?.status === 200 ? 0 : 1)
