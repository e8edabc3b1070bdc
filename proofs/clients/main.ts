/**
 * Proves that common clients work through the gateway and pay exactly what the upstream billed.
 * `npm run prove:clients` installs them into a cache folder and starts itself again in a network
 * namespace with nothing but loopback, where gateway, simulators and clients run together.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { readConditions, report, table } from '../../testbed/results.ts'
import { translatingCatalog } from '../../tests/clients/translating-catalog.ts'
import { startTestGateway, type TestGateway } from '../../tests/support/in-process.ts'
import { CLIENTS, type Library, type Program } from './clients.ts'
import { installClient } from './install.ts'
import { playAgent } from './play-agent.ts'
import { playLibrary } from './play-library.ts'
import type { Played } from './played.ts'

const HELP = `npm run prove:clients [-- CLIENT…]

Installs each client at its pinned version below CLIENTS_FOLDER (~/.cache/tributary/prove-clients),
plays its scenes against a gateway and the simulators without any network but loopback, and compares
every charge with the simulators' book. Without a name it plays all clients and writes
benchmarks/results/prove-clients.txt and .json; with names it prints only.

  --install   only installs
  --help      prints this

Clients: ${[...new Set(CLIENTS.map(({ id }) => id))].join(', ')}`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean' },
    install: { type: 'boolean' },
    inside: { type: 'boolean' },
  },
})

const unknown = positionals.filter((name) => CLIENTS.every(({ id }) => id !== name))
if (values.help) console.log(HELP)
else if (unknown.length > 0) {
  console.error(`no client ${unknown.join(', ')}\n\n${HELP}`)
  process.exitCode = 1
} else await start()

async function start(): Promise<void> {
  const isChosen = ({ id }: Program | Library) =>
    positionals.length === 0 || positionals.includes(id)
  const chosen = CLIENTS.filter(isChosen).map((client) => {
    return { client, folder: installClient(client.id, client.packages) }
  })
  if (values.install) return
  if (!values.inside) startInside()
  else await prove(chosen)
}

function startInside(): void {
  const loopback = 'ip link set lo up && exec "$@"'
  const self = [process.execPath, ...process.argv.slice(1), '--inside']
  const args = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]
  const { status } = spawnSync('unshare', [...args, 'sh', '-c', loopback, 'sh', ...self], {
    stdio: 'inherit',
    env: { ...process.env, TRIBUTARY_TEST_UNSAFE_DATABASE: '1' },
  })
  process.exitCode = status ?? 1
}

interface Chosen {
  readonly client: Program | Library
  readonly folder: string
}

async function prove(chosen: readonly Chosen[]): Promise<void> {
  const gateway = await startTestGateway()
  const played: Played[] = []
  try {
    await gateway.apply(translatingCatalog(gateway.simulators.url))
    for (const one of chosen) {
      console.log(one.client.name)
      played.push(...(await play(gateway, one).catch((error) => [stopped(one, error)])))
    }
  } finally {
    await gateway.stop()
  }
  const broken = played.filter(({ breaks }) => breaks.length > 0)
  const versions = [...new Set(chosen.map(({ client }) => describeVersions(client)))]
  const lines = describe(played, versions)
  if (positionals.length > 0) console.log(lines.join('\n'))
  else report('prove-clients', readConditions('npm run prove:clients'), { versions, played }, lines)
  process.exitCode = broken.length > 0 ? 1 : 0
}

async function play(gateway: TestGateway, { client, folder }: Chosen): Promise<Played[]> {
  if (!('agents' in client)) return playLibrary(gateway, client, folder)
  const played: Played[] = []
  for (const agent of client.agents(folder)) played.push(...(await playAgent(gateway, agent)))
  return played
}

function describeVersions({ id, packages }: Program | Library): string {
  const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`)
  return `${id}: ${versions.join(', ')}`
}

/** The row of a client that could not be played to its end. */
function stopped({ client: { name: client } }: Chosen, error: unknown): Played {
  const money = { records: 0, chargedNanos: '0', bookedNanos: '0' }
  return { client, model: '-', scene: '-', ...money, breaks: [String(error)] }
}

function describe(played: readonly Played[], versions: readonly string[]): string[] {
  const broken = played.filter(({ breaks }) => breaks.length > 0)
  const rows = played.map((one) => [
    `${one.client}, ${one.model}: ${one.scene}`,
    one.records,
    one.chargedNanos,
    one.bookedNanos,
    one.breaks.length === 0 ? 'ok' : 'BROKEN',
  ])
  return [
    ...versions,
    '',
    'No network but loopback. A scene holds when the client shows the right answer (an agent: its',
    'files are on disk) and every finished record equals one bill.',
    'A stream that died told its usage in part or not at all: no bill has to equal its record; its',
    'repeat has its own.',
    'Cline and Continue over messages do not repeat it and show the error. Gemini CLI would run a',
    'call of it beside that of the repeat, and send two results for one call: its stream dies in',
    'the text.',
    '',
    'Not played: Cursor, Zed, and Cline and Continue inside an editor (graphical programs; the',
    'last two have a command line, which is played); Open WebUI, LobeChat, n8n and Dify (servers',
    'with interfaces of their own); videos of @ai-sdk/minimax (a form that the gateway does not',
    'speak: @ai-sdk/bytedance makes them).',
    '',
    ...table([['', 'records', 'charged (nano)', 'billed (nano)', ''], ...rows]),
    '',
    `${played.length - broken.length} of ${played.length} scenes hold.`,
    ...broken.flatMap(({ client, model, scene, breaks }) =>
      breaks.map((text) => `${client}, ${model}, ${scene}: ${text}`),
    ),
  ]
}
