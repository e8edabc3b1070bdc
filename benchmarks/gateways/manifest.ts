/**
 * A gateway that a manifest names, so that whoever has it installed adds it to the comparison. The
 * form is in docs/benchmarks.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killTree, pinTree, readCpuSeconds, readMemoryMb } from '../../testbed/proc.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { type RunningProcess, startProcess } from '../../tests/support/processes.ts'
import { until } from '../../tests/support/until.ts'
import type { Contestant, Cores, Ledger } from './contestant.ts'

interface Manifest {
  readonly name: string
  /** The command that starts it and its database. */
  readonly start: readonly [string, ...string[]]
  readonly env?: Readonly<Record<string, string>>
  /** A path that answers with 200 once it serves; `/` by default. */
  readonly ready?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly budget?: Contestant['budget']
  /** A command that prints how many calls it has charged. */
  readonly charged?: readonly [string, ...string[]]
}

const READY_MS = 120_000
/** After a kill, a gateway may need this long to charge what was under way. */
const SETTLED_MS = 60_000

/** Throws if the file is no manifest, with what is missing. */
function readManifest(file: string): Manifest {
  const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<Manifest>
  if (typeof value.name !== 'string') throw new Error(`${file}: name is missing`)
  if (!Array.isArray(value.start)) throw new Error(`${file}: start must be a list of words`)
  return value as Manifest
}

/** Starts it. `{port}`, `{upstream}` and `{folder}`, one of its own, are replaced. */
export async function startByManifest(
  file: string,
  upstream: string,
  cores: Cores,
): Promise<Contestant> {
  const folder = mkdtempSync(join(tmpdir(), 'benchmark-gateway-'))
  const words = { port: String(await findFreePort()), upstream, folder }
  const manifest: Manifest = fill(readManifest(file), words)
  const url = `http://127.0.0.1:${words.port}`
  const start = () => startOne(manifest, url, cores)
  let running = await start()
  const { name, headers = {}, budget, charged } = manifest
  const ledger: Ledger | undefined = charged && {
    async killAndRestart() {
      killTree(running.pid)
      await running.exited
      running = await start()
    },
    countCharged: () => countSettled(charged),
  }
  return {
    name,
    url,
    headers,
    ...(budget === undefined ? {} : { budget }),
    ...(ledger === undefined ? {} : { ledger }),
    cpuSeconds: () => readCpuSeconds(running.pid),
    memoryMb: () => readMemoryMb(running.pid),
    async stop() {
      await running.stop(10_000)
      killTree(running.pid)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function fill(manifest: Manifest, words: Readonly<Record<string, string>>): Manifest {
  const replace = (_: string, value: unknown) =>
    typeof value === 'string'
      ? value.replace(/\{(port|upstream|folder)\}/g, (all, name) => words[name] ?? all)
      : value
  return JSON.parse(JSON.stringify(manifest, replace)) as Manifest
}

async function startOne(manifest: Manifest, url: string, cores: Cores): Promise<RunningProcess> {
  const { start, env = {}, ready = '/', name } = manifest
  const options = { env: { ...process.env, ...env } }
  const child = await startProcess(['taskset', '-c', cores.gateway, ...start], options)
  const isUp = async () => {
    if (child.hasExited()) throw new Error(`${name} exited: ${child.log().slice(-1_000)}`)
    const answer = await fetch(url + ready).catch(() => undefined)
    await answer?.body?.cancel()
    return answer?.ok ? true : undefined
  }
  await until(name, isUp, READY_MS)
  pinTree(child.pid, cores.gateway)
  return child
}

/** Resolves to the count once it has been the same for ten seconds. */
async function countSettled([command, ...args]: readonly [string, ...string[]]): Promise<number> {
  const count = () => Number(spawnSync(command, args, { encoding: 'utf8' }).stdout.trim())
  let last = count()
  let since = performance.now()
  const settled = () => {
    const next = count()
    if (next !== last) since = performance.now()
    last = next
    return performance.now() - since > 10_000 ? last : undefined
  }
  return await until('the last charge', settled, SETTLED_MS).catch(() => last)
}
