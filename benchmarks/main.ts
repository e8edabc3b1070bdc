/**
 * `npm run bench [-- NAME [arguments]]`: runs all benchmarks one after another, or one of them, in
 * a network namespace with nothing but loopback, because one of the peers listens on every
 * interface.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { installPortkey } from './peers/install-portkey.ts'

const ALL = [
  'start-up',
  'ledger',
  'sealing',
  'throughput',
  'latency',
  'open-streams',
  'stream-storm',
  'interpretations',
  'board',
]
const WITH_PEERS = new Set(['throughput', 'latency', 'board'])

const [name, ...more] = process.argv.slice(2)
if (name !== undefined && !ALL.includes(name)) {
  console.error(`there is no benchmark ${name}: ${ALL.join(', ')}`)
  process.exit(1)
}
const chosen = name === undefined ? ALL : [name]
const isolated = spawnSync('unshare', ['-n', 'true']).status === 0
if (!isolated) console.log('no network of our own here (unshare -n): Portkey is left out')
const portkey = isolated && chosen.some((one) => WITH_PEERS.has(one)) ? installPortkey() : undefined
try {
  for (const one of chosen) process.exitCode = run(one) || (process.exitCode ?? 0)
} finally {
  if (portkey !== undefined) rmSync(portkey, { recursive: true, force: true })
}

function run(one: string): number {
  const script = [process.execPath, join(import.meta.dirname, `${one}.ts`), ...more]
  const inside = ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'bench', ...script]
  const [file = '', ...args] = isolated ? ['unshare', ...inside] : script
  const env = { ...process.env, ...(portkey === undefined ? {} : { BENCHMARK_PORTKEY: portkey }) }
  return spawnSync(file, args, { stdio: 'inherit', env }).status ?? 1
}
