/** Measures the live memory of two idle sockets in a process. */
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLiveMemory } from '../../testbed/live-memory.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { startProcess } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'

const PEER = join(import.meta.dirname, 'bare-sockets.ts')
const SETTLE_MS = 500

/** Returns the kilobytes per call for this number of concurrent calls. */
export async function measureBareSockets(socketUrl: string, calls: number): Promise<number> {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const memory = openLiveMemory()
  const child = await startProcess([process.execPath, PEER, socketUrl, String(port)], {
    env: { ...process.env, ...memory.environment },
  })
  try {
    await until('the bare server', () => fetch(`${url}/ready`).catch(() => undefined))
    for (const call of await openAll(url, calls)) call.destroy()
    await sleep(SETTLE_MS)
    const empty = await memory.read(child)
    const open = await openAll(url, calls)
    const each = ((await memory.read(child)) - empty) / calls / 1024
    for (const call of open) call.destroy()
    return each
  } finally {
    await child.stop(1_000)
    memory.close()
  }
}

function openAll(url: string, calls: number): Promise<ClientRequest[]> {
  return Promise.all(
    Array.from({ length: calls }, async () => {
      const call = request(url, { method: 'POST', agent: false })
      call.on('error', () => undefined)
      call.end('a request')
      const [answer] = await once(call, 'response')
      answer.resume()
      answer.on('error', () => undefined)
      return call
    }),
  )
}
