// `npm test`: from a fresh clone installs, then runs every test with the pinned Node.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { install, root } from './install.mjs'

const node = await install({ everything: true })
const args = [join(root, 'scripts', 'run-tests.ts'), ...process.argv.slice(2)]
const path = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`
const child = spawn(node, args, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: path },
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code) => process.exit(code ?? 1))
