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
/** Each in a folder of its own, run by name alone. */
const BY_NAME = ['soak', 'workers', 'tokens', 'gateways']
const WITH_PEERS = new Set(['throughput', 'latency', 'board', 'gateways'])

const [name, ...more] = process.argv.slice(2)
const isHelp = [name, ...more].includes('--help')
if (name === '--help') {
  console.log('npm run bench [-- NAME [arguments]]: runs one of these, or all but the last four:')
  for (const one of [...ALL, ...BY_NAME]) console.log(`  ${one}`)
  console.log('npm run bench -- NAME --help says what one measures.')
  process.exit(0)
}
if (name !== undefined && ![...ALL, ...BY_NAME].includes(name)) {
  console.error(`there is no benchmark ${name}: ${[...ALL, ...BY_NAME].join(', ')}`)
  process.exit(1)
}
const chosen = name === undefined ? ALL : [name]
const isolated = spawnSync('unshare', ['-n', 'true']).status === 0
if (!isolated && !isHelp)
  console.log('no network of our own here (unshare -n): Portkey is left out')
const hasPortkey = isolated && !isHelp && chosen.some((one) => WITH_PEERS.has(one))
const portkey = hasPortkey ? installPortkey() : undefined
try {
  for (const one of chosen) process.exitCode = run(one) || (process.exitCode ?? 0)
} finally {
  if (portkey !== undefined) rmSync(portkey, { recursive: true, force: true })
}

function run(one: string): number {
  const file = BY_NAME.includes(one) ? join(one, 'main.ts') : `${one}.ts`
  const script = [process.execPath, join(import.meta.dirname, file), ...more]
  const inside = ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'bench', ...script]
  const [command = '', ...args] = isolated ? ['unshare', ...inside] : script
  const env = { ...process.env, ...(portkey === undefined ? {} : { BENCHMARK_PORTKEY: portkey }) }
  return spawnSync(command, args, { stdio: 'inherit', env }).status ?? 1
}
