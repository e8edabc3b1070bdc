// Runs the simulators alone: `node simulators/main.ts --port 9100 [--time-scale 0.1] [--fast]`.
import { parseArgs } from 'node:util'
import { startSimulators } from './index.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9100' },
    host: { type: 'string', default: '127.0.0.1' },
    'time-scale': { type: 'string', default: '1' },
    'chunk-delay': { type: 'string', default: '0' },
    'events-per-write': { type: 'string', default: '1' },
    fast: { type: 'boolean', default: false },
  },
})

const simulators = await startSimulators({
  port: Number(values.port),
  host: values.host,
  timeScale: Number(values['time-scale']),
  chunkDelayMs: Number(values['chunk-delay']),
  eventsPerWrite: Number(values['events-per-write']),
  fast: values.fast,
})
console.log(`Simulators listen on ${simulators.url} (what can be scripted: ${simulators.url}/sim)`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void simulators.stop().then(() => process.exit(0)))
}
