/** Starts the four paths to the same upstream, each pinned to a core and measured alike. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlace, type Place, type PlaceOptions } from '../../testbed/laboratory.ts'
import { findPostmaster } from '../../testbed/postmaster.ts'
import { pinTree } from '../../testbed/proc.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { type RunningProcess, startProcess } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'

/** The server under test has this core to itself; everything else uses the other one. */
export const SERVER_CORE = 0
export const OTHER_CORE = 1

export interface Peer {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The server's own process, including its children. */
  readonly pid: number
  /** Its database, on the other core; measured separately. */
  readonly databasePid?: number
  /** True if it cannot relay a stream. */
  readonly wholeOnly?: boolean
  stop(): Promise<void>
}

const HERE = import.meta.dirname
const NODE = process.execPath

export interface Upstream extends RunningProcess {
  readonly url: string
}

export async function startUpstream(holdMs = 0): Promise<Upstream> {
  const port = await findFreePort()
  const script = join(HERE, 'upstream.ts')
  const child = await startScript([NODE, script, String(port), String(holdMs)], OTHER_CORE)
  return { ...child, url: `http://127.0.0.1:${port}` }
}

export async function startPacedUpstream(): Promise<Upstream> {
  const port = await findFreePort()
  const script = join(HERE, 'paced-upstream.ts')
  const child = await startScript([NODE, script, String(port)], OTHER_CORE)
  return { ...child, url: `http://127.0.0.1:${port}` }
}

/** Raises the limit of open files: 10,000 streams have two sockets each. */
async function startScript(
  command: readonly string[],
  core: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<RunningProcess> {
  const shell = 'ulimit -n 65536 2>/dev/null; exec taskset -c "$0" "$@"'
  const child = await startProcess(['sh', '-c', shell, String(core), ...command], { env })
  await until('the process', () => (child.log().includes('ready') ? true : undefined))
  return child
}

export async function startBareNode(upstream: string): Promise<Peer> {
  const port = await findFreePort()
  const command = [NODE, join(HERE, 'bare-node.ts'), String(port), upstream]
  const child = await startScript(command, SERVER_CORE)
  return peer('bare node:http + undici', port, child)
}

function peer(
  name: string,
  port: number,
  child: RunningProcess,
  headers: Readonly<Record<string, string>> = {},
): Peer {
  const url = `http://127.0.0.1:${port}`
  return { name, url, headers, pid: child.pid, stop: async () => void (await child.stop(2_000)) }
}

/** Prints why and returns undefined if nginx is not installed. */
export async function startNginx(upstream: string): Promise<Peer | undefined> {
  if (spawnSync('nginx', ['-v']).status !== 0) {
    console.log('nginx is not installed (apt-get install nginx-light): left out')
    return undefined
  }
  const port = await findFreePort()
  const folder = mkdtempSync(join(tmpdir(), 'benchmark-nginx-'))
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, nginxConfiguration(folder, port, new URL(upstream).host))
  const command = ['taskset', '-c', String(SERVER_CORE), 'nginx', '-c', file, '-p', folder] as const
  const child = await startProcess([...command])
  const started = peer('nginx', port, child)
  await until('nginx', async () => {
    const answer = await fetch(`${started.url}/v1`).catch(() => undefined)
    return answer ? true : undefined
  })
  return {
    ...started,
    async stop() {
      await child.stop(2_000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function nginxConfiguration(folder: string, port: number, upstream: string): string {
  return `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit;
worker_rlimit_nofile 65536;
events { worker_connections 30000; }
http {
  access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder};
  fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  keepalive_requests 1000000; tcp_nodelay on;
  upstream models { server ${upstream}; keepalive 1024; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=16384;
    location / {
      proxy_pass http://models/openai$request_uri;
      proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
    }
  }
}`
}

/** A peer with a database of its own. */
export interface PeerWithPlace extends Peer {
  readonly place: Place
}

/** Starts the least that a proxy with durable money does; see prototype-ledger.ts. */
export async function startPrototype(upstream: string): Promise<PeerWithPlace> {
  const place = await openPlace(upstream, { shared: true })
  const port = await findFreePort()
  const databasePid = findPostmaster(place.dataDir)
  if (databasePid === undefined) throw new Error('no database')
  pinTree(databasePid, OTHER_CORE)
  const script = join(HERE, 'prototype-ledger.ts')
  const command = [NODE, script, String(port), upstream, 'benchmark']
  const env = { ...process.env, DATABASE_URL: place.databaseUrl }
  const child = await startScript(command, SERVER_CORE, env)
  const authorization = 'Bearer benchmark'
  return {
    ...peer('prototype: hold and settle', port, child, { authorization }),
    databasePid,
    place,
    wholeOnly: true,
    async stop() {
      await child.stop(2_000)
      await place.close()
    },
  }
}

/** Starts the gateway with everything on: key, limits, durable hold and settlement. */
export async function startTributary(
  upstream: string,
  { env, ...options }: PlaceOptions & { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<PeerWithPlace> {
  const place = await openPlace(upstream, options)
  const gateway = await place.startGateway(env)
  pinTree(gateway.pid, SERVER_CORE)
  const databasePid = findPostmaster(place.dataDir)
  if (databasePid === undefined) throw new Error('no database')
  pinTree(databasePid, OTHER_CORE)
  const [key] = place.keys
  return {
    name: 'Tributary, everything on',
    url: gateway.url,
    headers: { authorization: `Bearer ${key?.key}` },
    pid: gateway.pid,
    databasePid,
    place,
    async stop() {
      await gateway.stop()
      await place.close()
    },
  }
}

/**
 * Prints why and returns undefined outside a private network namespace, since Portkey listens on
 * all interfaces. Its streams work only with the older server library.
 */
export async function startPortkey(upstream: string): Promise<Peer | undefined> {
  const folder = process.env.BENCHMARK_PORTKEY
  const main = folder && join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  if (!main || !existsSync(main)) {
    console.log('Portkey runs only inside `npm run bench`: left out')
    return undefined
  }
  const port = await findFreePort()
  const command = ['taskset', '-c', String(SERVER_CORE), NODE, main, '--headless', `--port=${port}`]
  const [first = '', ...rest] = command
  const child = await startProcess([first, ...rest], {
    env: { ...process.env, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  })
  const started = peer('Portkey, no key, no ledger', port, child, {
    authorization: 'Bearer benchmark',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/openai/v1`,
  })
  await until('Portkey', async () => {
    const answer = await fetch(started.url).catch(() => undefined)
    return answer ? true : undefined
  })
  return started
}
