// Runs the simulators alone: `node simulators/main.ts --port 9100 [--time-scale 0.1] [--fast]`.
// With `--note` they serve a demo: they use another port if theirs is taken.
import { parseArgs } from 'node:util'
import { startSimulators } from './index.ts'
import { outliveGateway } from './outlive.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9100' },
    host: { type: 'string', default: '127.0.0.1' },
    'time-scale': { type: 'string', default: '1' },
    'chunk-delay': { type: 'string', default: '0' },
    'events-per-write': { type: 'string', default: '1' },
    fast: { type: 'boolean', default: false },
    note: { type: 'string' },
    gateway: { type: 'string', default: '0' },
  },
})

const options = {
  host: values.host,
  timeScale: Number(values['time-scale']),
  chunkDelayMs: Number(values['chunk-delay']),
  eventsPerWrite: Number(values['events-per-write']),
  fast: values.fast,
}
const { note } = values
const simulators = await startSimulators({ ...options, port: Number(values.port) }).catch(
  (error) => {
    if (note === undefined) throw error
    return startSimulators({ ...options, port: 0 })
  },
)
console.log(`Simulators listen on ${simulators.url} (scenarios: ${simulators.url}/sim)`)

const end = () => void simulators.stop().then(() => process.exit(0))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
if (note !== undefined) {
  outliveGateway(note, { url: simulators.url, gateway: Number(values.gateway) }, end)
}
