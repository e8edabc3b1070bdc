/** nginx in front of several gateways, as the guide to operating describes it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../../tests/support/free-port.ts'
import { startProcess } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'

const PROBE_EVERY_MS = 250

export interface Proxy {
  readonly url: string
  /** Stops nginx. Keeps its log if `keepLog` is set, and prints where it is. */
  stop(keepLog: boolean): Promise<void>
}

export interface ProxyOptions {
  /** Sends nothing to a gateway whose /readyz is not 200, as a load balancer with probes. */
  readonly probes?: boolean
}

/** Starts nginx for gateways on these ports. Resolves once one of them answers through it. */
export async function startProxy(
  ports: readonly number[],
  { probes = false }: ProxyOptions = {},
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-scale-'))
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const path = join(folder, 'nginx.conf')
  const write = (away: ReadonlySet<number>) =>
    writeFileSync(path, configure(folder, port, ports, away))
  write(new Set())
  const child = await startProcess(['nginx', '-c', path, '-p', folder])
  await until('nginx', async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok)
  const stopping = new AbortController()
  const probing = probes
    ? probe(ports, stopping.signal, (away) => {
        write(away)
        child.signal('SIGHUP')
      })
    : undefined
  return {
    url,
    async stop(keepLog) {
      stopping.abort()
      await probing
      await child.stop(2_000)
      if (keepLog) console.error(`the log of nginx is in ${folder}`)
      else rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Calls `onChange` with the ports that are not ready, whenever these change. */
async function probe(
  ports: readonly number[],
  signal: AbortSignal,
  onChange: (away: ReadonlySet<number>) => void,
): Promise<void> {
  let known = ''
  while (!signal.aborted) {
    const away = new Set<number>()
    for (const port of ports) if (!(await isReady(port))) away.add(port)
    if ([...away].join() !== known && !signal.aborted) onChange(away)
    known = [...away].join()
    await sleep(PROBE_EVERY_MS)
  }
}

async function isReady(port: number): Promise<boolean> {
  const headers = { connection: 'close' }
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { headers }).catch(() => undefined)
  await answer?.arrayBuffer()
  return answer?.status === 200
}

function configure(
  folder: string,
  port: number,
  ports: readonly number[],
  away: ReadonlySet<number>,
): string {
  const options = (each: number) => (away.has(each) ? 'down' : 'max_fails=1 fail_timeout=1s')
  const servers = ports.map((each) => `server 127.0.0.1:${each} ${options(each)};`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off; user ${userInfo().username}; worker_processes 1;
pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  upstream gateway { ${servers.join(' ')} keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_next_upstream error timeout;
      proxy_read_timeout 1h;
    }
  }
}
`
}
