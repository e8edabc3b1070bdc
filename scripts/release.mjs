// `npm run release`: writes dist/tributary-VERSION.tar.gz, the last commit with the console built,
// which starts without the console's build tools.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { buildConsole } from './build-console.mjs'
import { install, root } from './install.mjs'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const folder = `tributary-${version}`
const file = join(root, 'dist', `${folder}.tar.gz`)
if (run('git', ['status', '--porcelain']) !== '') fail('commit first: a release is of a commit')
if (!(await buildConsole(await install({ everything: true })))) process.exit(1)
const built = readdirSync(join(root, 'console', 'dist'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .flatMap((entry) => {
    const parent = relative(root, entry.parentPath)
    return [`--prefix=${folder}/${parent}/`, `--add-file=${join(parent, entry.name)}`]
  })
mkdirSync(join(root, 'dist'), { recursive: true })
run('git', ['archive', '-o', file, ...built, `--prefix=${folder}/`, 'HEAD'])
console.log(file)

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout : fail(stderr)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
