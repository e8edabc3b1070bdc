/** Plays the scenes of client libraries, each library in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestGateway } from '../../tests/support/in-process.ts'
import { BALANCE, compareAccount, sawPicture } from './account.ts'
import type { Library } from './clients.ts'
import { compareCalls } from './compare-calls.ts'
import { LIBRARY_SCENES, type LibraryScene, SCENE_PICTURE, THOUGHT } from './library-scenes.ts'
import type { Played } from './played.ts'

const FOLDER = join(import.meta.dirname, 'libraries')
const SCENE_MS_MAX = 60_000
/** Their thoughts have to come back with the results of tools. */
const CLAUDES: ReadonlySet<string> = new Set(['sim-claude', 'claude-bedrock', 'claude-vertex'])
/** The end of a library's own output, shown if a scene breaks. */
const SHOWN_LENGTH = 2_000

interface Reply {
  readonly names?: readonly string[]
  readonly answer?: unknown
  readonly error?: string
}

export async function playLibrary(
  gateway: TestGateway,
  library: Library,
  folder: string,
): Promise<Played[]> {
  const home = mkdtempSync(join(tmpdir(), 'tributary-home-'))
  const child = fork(join(FOLDER, library.script), [], {
    execArgv: ['--import', join(FOLDER, 'use-packages.mjs')],
    env: { PATH: process.env.PATH, HOME: home, CLIENT_FOLDER: folder, ...library.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data) => {
      output = (output + data).slice(-SHOWN_LENGTH)
    })
  }
  try {
    const { names = [] } = await receive(child)
    const played: Played[] = []
    for (const name of names) {
      const scene = LIBRARY_SCENES[name]
      if (!scene) throw new Error(`${library.script} plays ${name}, which is no scene`)
      for (const model of scene.model === undefined ? library.models : [scene.model]) {
        played.push(await play(gateway, child, { library, name, scene, model }))
      }
    }
    if (played.some(({ breaks }) => breaks.length > 0)) console.error(output)
    return played
  } catch (error) {
    console.error(output)
    throw error
  } finally {
    if (child.connected) {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    }
    rmSync(home, { recursive: true, force: true })
  }
}

async function receive(child: ChildProcess): Promise<Reply> {
  const done = new AbortController()
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(SCENE_MS_MAX)])
  const message = once(child, 'message', { signal }).then(([reply]): Reply => reply)
  const end = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`the client's process ended with ${code}`)
  })
  end.catch(() => undefined)
  try {
    return await Promise.race([message, end])
  } finally {
    done.abort()
  }
}

interface Part {
  readonly library: Library
  readonly name: string
  readonly scene: LibraryScene
  readonly model: string
}

async function play(gateway: TestGateway, child: ChildProcess, part: Part): Promise<Played> {
  const { library, name, scene, model } = part
  const { simulators, url } = gateway
  const breaks: string[] = []
  const order = { name, words: scene.words, picture: SCENE_PICTURE }
  const straight = scene.refused ? undefined : library.straight
  const straightSince = lastCall(gateway)
  if (straight) {
    const credentials = straight.credentials(simulators.url)
    const place = { url: simulators.url, straight: credentials, model: straight.model }
    child.send({ ...order, ...place })
    const { answer, error } = await receive(child)
    await simulators.book.settled()
    breaks.push(...judge(scene, answer, error).map((text) => `straight: ${text}`))
  }
  const balance = scene.refused ? '0' : BALANCE
  const { key, accountId } = await gateway.tenant({ balance })
  const since = simulators.book.entries().at(-1)?.sequence ?? 0
  const callsSince = lastCall(gateway)
  child.send({ ...order, url, key, model })
  const { answer, error } = await receive(child)
  await simulators.book.settled()
  breaks.push(...judge(scene, answer, error))
  if (straight) {
    const calls = simulators.calls.list(straightSince)
    const own = calls.filter(({ sequence }) => sequence <= callsSince)
    breaks.push(...compareCalls(own, simulators.calls.list(callsSince)))
  }
  if (scene.needsPicture && !sawPicture(gateway, callsSince)) breaks.push('no picture came')
  if (CLAUDES.has(model) && countThoughts(gateway) !== (scene.thoughts ?? 0)) {
    breaks.push(`${countThoughts(gateway)} thoughts came back`)
  }
  const account = { key, accountId, model, since, balance, recordsMin: scene.bills }
  const { conditions, breaks: isBroken } = scene
  const money = await compareAccount(gateway, { ...account, conditions, breaks: isBroken })
  return {
    client: library.name,
    model,
    scene: name,
    ...money,
    breaks: [...breaks, ...money.breaks],
  }
}

const lastCall = ({ simulators }: TestGateway) => simulators.calls.list().at(-1)?.sequence ?? 0

function judge(scene: LibraryScene, answer: unknown, error: string | undefined): string[] {
  if (!scene.refused && error !== undefined) return [error]
  const problem = scene.judge(scene.refused ? error : answer)
  return problem === undefined ? [] : [problem]
}

/** Thoughts in the last request, beside the one that the words of the user ask for. */
function countThoughts({ simulators }: TestGateway): number {
  const last = simulators.calls.list().at(-1)
  const body = Buffer.from(last?.body_base64 ?? '', 'base64').toString()
  return Math.max(0, body.split(THOUGHT).length - 2)
}
