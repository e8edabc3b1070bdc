/** Runs the tests on one shared PostgreSQL. Arguments: test files or flags of `node --test`. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { startTestServer } from '../tests/support/postgres.ts'

const given = process.argv.slice(2)
const flags = given.filter((argument) => argument.startsWith('-'))
const named = given.filter((argument) => !argument.startsWith('-'))
const files = named.length > 0 ? named : globSync('tests/**/*.test.ts').sort()

const server = await startTestServer()
const args = ['--test', '--test-reporter=spec', '--test-concurrency=2', ...flags, ...files]
const child = spawn(process.execPath, args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    TEST_POSTGRES: JSON.stringify(server.place),
    // The shared server trades durability for speed; the gateway refuses such a server otherwise.
    TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
child.on('exit', async (code) => {
  await server.stop()
  process.exit(code ?? 1)
})
