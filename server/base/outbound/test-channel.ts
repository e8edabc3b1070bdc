/**
 * Tests a channel: its settings are complete, its address resolves, its port accepts a connection,
 * and the vendor accepts its key where it has a free request to try it with.
 */
import { lookup } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { isObject, member } from '../lib/json.ts'

const CONNECT_MS = 5_000
const NO_PROBE = 'not tested: the vendor has no free request, a wrong key shows in the first call'

export interface TestStep {
  readonly step: string
  readonly ok: boolean
  readonly detail: string
  readonly milliseconds: number
}

/** `settings` are resolved, or undefined with the reason in `problem`. */
export async function testChannel(channel: {
  readonly settings: unknown
  /** The vendor's address, where it is derived from the settings instead of being one of them. */
  readonly address?: string | undefined
  readonly problem: string | undefined
  /** Sends a free request with the key; undefined if the vendor has none. */
  readonly probe: (() => Promise<string>) | undefined
  /** Reports which endpoints the address serves; undefined if all of them are certain. */
  readonly endpoints?: (() => Promise<string>) | undefined
}): Promise<{ readonly ok: boolean; readonly steps: TestStep[] }> {
  const steps: TestStep[] = []
  const run = async (step: string, work: () => Promise<string>) => {
    const start = performance.now()
    const outcome = await work().then(
      (detail) => ({ ok: true, detail }),
      (error) => ({ ok: false, detail: error instanceof Error ? error.message : String(error) }),
    )
    steps.push({ step, ...outcome, milliseconds: Math.round(performance.now() - start) })
    return outcome.ok
  }
  const address = channel.address ? new URL(channel.address) : findAddress(channel.settings)
  const ready = await run('settings', async () => {
    if (channel.problem) throw new Error(channel.problem)
    return address ? `${address.origin}${address.pathname}` : 'the vendor’s own address'
  })
  if (ready && address) {
    const host = address.hostname.replace(/^\[|\]$/g, '')
    const explained = (error: unknown) => Promise.reject(explain(error, address))
    const resolved = await run('address', () =>
      lookup(host).then((found) => found.address, explained),
    )
    const connected =
      resolved && (await run('connection', () => tryConnection(address, host).catch(explained)))
    const accepted = connected && (await run('key', channel.probe ?? (async () => NO_PROBE)))
    if (accepted && channel.endpoints) await run('endpoints', channel.endpoints)
  }
  return { ok: steps.every(({ ok }) => ok), steps }
}

/** Returns the first setting that is a URL: usually `base_url`, or a product's own setting. */
function findAddress(settings: unknown): URL | undefined {
  if (!isObject(settings)) return undefined
  const texts = [settings.base_url, ...Object.values(settings)]
  const text = texts.find((one) => typeof one === 'string' && /^(https?|wss?):\/\//.test(one))
  return typeof text === 'string' ? new URL(text) : undefined
}

/** Returns the error in words that say what to check; others unchanged. */
function explain(error: unknown, { protocol, hostname, host, port }: URL): unknown {
  const place = port === '' ? `${host}:${protocol.endsWith('s:') ? 443 : 80}` : host
  switch (member(error, 'code')) {
    case 'ENOTFOUND':
      return new Error(`no host has the name ${hostname}: is it spelled as the vendor says?`)
    case 'EAI_AGAIN':
      return new Error(
        `the name server did not answer for ${hostname}: has this machine a network?`,
      )
    case 'ECONNREFUSED':
      return new Error(`nothing listens at ${place}: is the port right?${hintAtLoopback(hostname)}`)
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return new Error(`${place} does not speak TLS: does the address begin with http://?`)
    default:
      return error instanceof AggregateError ? error.errors[0] : error
  }
}

function hintAtLoopback(hostname: string): string {
  const isLoopback = hostname === 'localhost' || hostname.startsWith('127.') || hostname === '[::1]'
  return isLoopback ? ' Within a container this address is the container itself' : ''
}

function tryConnection(address: URL, host: string): Promise<string> {
  const secure = address.protocol === 'https:' || address.protocol === 'wss:'
  const port = Number(address.port) || (secure ? 443 : 80)
  // RFC 6066 allows only names there; without one the certificate is checked for the address.
  const name = isIP(host) ? {} : { servername: host }
  return new Promise((resolve, reject) => {
    const socket: Socket = secure
      ? connectTls({ host, port, ...name, ALPNProtocols: ['http/1.1'] })
      : connectTcp({ host, port })
    const end = (outcome: () => void) => {
      socket.destroy()
      outcome()
    }
    socket.setTimeout(CONNECT_MS, () => end(() => reject(new Error('no answer within 5 seconds'))))
    socket.on('error', (error) => end(() => reject(error)))
    socket.on(secure ? 'secureConnect' : 'connect', () =>
      end(() => resolve(secure ? 'connected, certificate verified' : 'connected')),
    )
  })
}
