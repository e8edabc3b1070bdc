/**
 * Proves that common agents work through the gateway and pay exactly what the upstream billed. `npm
 * run prove:clients` installs them into a cache folder and starts itself again in a network
 * namespace with nothing but loopback, where gateway, simulators and agents run together.
 */
import { spawnSync } from 'node:child_process'
import { readConditions, report, table } from '../../testbed/results.ts'
import { installAgents, listAgents, VERSIONS } from './agents.ts'
import { playAll } from './scenes.ts'

const INSIDE = '--inside'
const folder = installAgents()
if (!process.argv.includes(INSIDE)) startInside()
else await prove()

function startInside(): void {
  const loopback = 'ip link set lo up && exec "$@"'
  const self = [process.execPath, ...process.argv.slice(1), INSIDE]
  const args = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]
  const { status } = spawnSync('unshare', [...args, 'sh', '-c', loopback, 'sh', ...self], {
    stdio: 'inherit',
    env: { ...process.env, TRIBUTARY_TEST_UNSAFE_DATABASE: '1' },
  })
  process.exitCode = status ?? 1
}

async function prove(): Promise<void> {
  const played = await playAll(listAgents(folder))
  const broken = played.filter(({ breaks }) => breaks.length > 0)
  const rows = played.map((one) => [
    `${one.agent}, ${one.model}: ${one.scene}`,
    one.records,
    one.chargedNanos,
    one.bookedNanos,
    one.breaks.length === 0 ? 'ok' : 'BROKEN',
  ])
  const versions = Object.entries(VERSIONS).map(([name, version]) => `${name} ${version}`)
  report('prove-clients', readConditions('npm run prove:clients'), { versions, played }, [
    `${versions.join(', ')}; no network but loopback.`,
    'A scene holds when its files are on disk and every finished record equals one bill.',
    'A stream that died tells no usage, so its record is an estimate; its repeat has its own.',
    '',
    ...table([['', 'records', 'charged (nano)', 'billed (nano)', ''], ...rows]),
    '',
    `${played.length - broken.length} of ${played.length} scenes hold.`,
    ...broken.flatMap(({ agent, model, scene, breaks }) =>
      breaks.map((text) => `${agent}, ${model}, ${scene}: ${text}`),
    ),
  ])
  process.exitCode = broken.length > 0 ? 1 : 0
}
