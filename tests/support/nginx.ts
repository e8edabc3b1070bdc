/** nginx with the configuration of Compose, changed only where this machine differs. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from './free-port.ts'
import { startProcess } from './processes.ts'

const CONFIGURATION = join(import.meta.dirname, '..', '..', 'deploy', 'nginx', 'nginx.conf')
/** Another binary than the one on the path: the path of a newer nginx, for example. */
const PROGRAM = process.env.NGINX ?? 'nginx'
/** The name of all gateways, for an nginx that cannot resolve those of an upstream again. */
export const ALL_GATEWAYS = 'all-gateways'
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** The installed version, such as [1, 28, 0]; undefined without nginx. */
export const NGINX_VERSION: readonly number[] | undefined = readVersion()

/**
 * True if it resolves the names of an upstream again, as the image of Compose does. An older one
 * resolves the one name `ALL_GATEWAYS` for each request, and tries its addresses in turn.
 */
export const NGINX_RESOLVES = isSince(NGINX_VERSION ?? [0], [1, 27, 3])

export interface Nginx {
  readonly url: string
  /** What it wrote of errors. */
  log(): string
  stop(): Promise<void>
}

/**
 * Starts nginx. `gateways` are addresses with ports, in place of the names in the configuration; or
 * the names stay, and a DNS server on this port of 127.0.0.1 resolves them, to gateways on `port`.
 * `asInstalled` leaves every setting of the proxy at nginx's own default.
 */
export async function startNginx(
  gateways: readonly string[] | { readonly dnsPort: number; readonly port: number },
  { asInstalled = false }: { readonly asInstalled?: boolean } = {},
): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-nginx-'))
  const port = await findFreePort()
  const path = join(folder, 'nginx.conf')
  const paths = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  const configuration = readFileSync(CONFIGURATION, 'utf8')
  const text = (asInstalled ? configuration.replace(/^ +proxy_(?!pass).*\n/gm, '') : configuration)
    .replace('worker_processes auto;', 'worker_processes 1;')
    .replace('http {', `http { ${paths}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('/dev/stdout', `${folder}/access.log`)
  const here = `daemon off; user ${userInfo().username}; pid ${folder}/pid; error_log ${folder}/log;`
  writeFileSync(
    path,
    `${here}\n${'dnsPort' in gateways ? byName(text, gateways) : byAddress(text, gateways)}`,
  )
  const child = await startProcess([PROGRAM, '-c', path, '-p', folder, '-e', `${folder}/log`])
  return {
    url: `http://127.0.0.1:${port}`,
    log: () => child.log() + readFileSync(join(folder, 'log'), 'utf8'),
    async stop() {
      await child.stop(2_000)
      rmSync(folder, { recursive: true })
    },
  }
}

function byName(text: string, place: { readonly dnsPort: number; readonly port: number }): string {
  const here = text.replace('resolver 127.0.0.11 ', `resolver 127.0.0.1:${place.dnsPort} `)
  if (NGINX_RESOLVES) return here.replace(/(server gateway-\d):8080/g, `$1:${place.port}`)
  return here
    .replace(/ +upstream gateways \{[^}]*\}\n/, '')
    .replace(
      'proxy_pass http://gateways;',
      `set $all ${ALL_GATEWAYS}; proxy_pass http://$all:${place.port};`,
    )
}

function byAddress(text: string, gateways: readonly string[]): string {
  const servers = gateways.map((gateway) => `        server ${gateway} max_fails=1;\n`)
  return text.replace(/(?: +server gateway-.*\n)+/, servers.join(''))
}

function readVersion(): readonly number[] | undefined {
  const { error, stderr } = spawnSync(PROGRAM, ['-v'], { encoding: 'utf8' })
  if (error) return undefined
  return /nginx\/(\d+)\.(\d+)\.(\d+)/.exec(stderr)?.slice(1).map(Number)
}

function isSince(version: readonly number[], since: readonly number[]): boolean {
  for (const [index, part] of since.entries()) {
    const own = version[index] ?? 0
    if (own !== part) return own > part
  }
  return true
}
