/**
 * Proves that a release can be verified as docs/guides/verify.md says: `npm run prove:release`.
 * Builds the last commit in two clones that differ in folder, time zone, language and mask of
 * modes, signs with a key created for it, runs the guide's commands, and tampers with the files
 * that they check. Needs OpenSSH and a registry of packages.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../testbed/options.ts'
import { readConditions, report } from '../testbed/results.ts'

const ROOT = join(import.meta.dirname, '..')
const GUIDE = readFileSync(join(ROOT, 'docs', 'guides', 'verify.md'), 'utf8')

readOptions(import.meta.filename, {})
const conditions = readConditions('npm run prove:release')
const folder = mkdtempSync(join(tmpdir(), 'tributary-release-'))
const checks: string[] = []
let isGood = true

function check(name: string, ok: boolean, detail = ''): void {
  checks.push(`${ok ? 'ok  ' : 'FAIL'}  ${name}${ok ? '' : `: ${detail.slice(0, 500)}`}`)
  console.log(checks.at(-1))
  isGood &&= ok
}

function shell(command: string, cwd: string, env: NodeJS.ProcessEnv = {}) {
  const options = { cwd, encoding: 'utf8', env: { ...process.env, ...env } } as const
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], options)
  return { ok: status === 0, text: `${stdout}${stderr}` }
}

/** Returns the lines of the guide that begin with `start`. */
function commands(start: string): readonly string[] {
  const found = GUIDE.split('\n').filter((line) => line.startsWith(start))
  if (found.length === 0) throw new Error(`the guide has no ${start}`)
  return found
}

function must(command: string, cwd: string, env: NodeJS.ProcessEnv = {}): string {
  const { ok, text } = shell(command, cwd, env)
  if (!ok) throw new Error(`${command}\n${text}`)
  return text
}

/** Returns the folder with the files of a release, built in a clone. */
function build(name: string, mask: string, env: NodeJS.ProcessEnv): string {
  const clone = join(folder, name)
  must(`umask ${mask} && git clone -q '${ROOT}' '${clone}'`, folder)
  const [command = ''] = commands('npm run release -- --key')
  must(`umask ${mask} && ${command.replace('release-key', `'${key}'`)}`, clone, env)
  return join(clone, 'dist')
}

const [makeKey = ''] = commands('ssh-keygen -t')
must(`${makeKey} -N '' -q`, folder)
const key = join(folder, 'release-key')
const signers = 'release namespaces="tributary-release" '
must(`echo '${signers}'"$(cat release-key.pub)" > release-signers`, folder)
const first = build('one', '022', { TZ: 'UTC', LANG: 'C' })
const second = build('another place', '077', { TZ: 'Asia/Shanghai', LANG: 'de_DE.UTF-8' })
const { ok, text } = shell(`diff '${first}/SHA256SUMS' '${second}/SHA256SUMS'`, folder)
check('two builds have the same digests', ok, text)

const verify = [...commands('ssh-keygen -Y verify'), ...commands('sha256sum --check')]
const given = join(folder, 'given')

/** Returns which of the guide's commands fail after `spoil` in a copy of the release. */
function failing(spoil: (path: string) => void): readonly string[] {
  rmSync(given, { recursive: true, force: true })
  must(`cp -r '${first}' '${given}'`, folder)
  copyFileSync(join(folder, 'release-signers'), join(given, 'release-signers'))
  spoil(given)
  return verify.filter((command) => !shell(command, given).ok)
}

const fine = failing(() => undefined)
check('the release verifies by the commands of the guide', fine.length === 0, fine.join('\n'))
const [commitCommand = ''] = commands('node -p')
const commit = must('git rev-parse HEAD', ROOT)
check('its provenance names the commit', shell(commitCommand, given).text === commit)
const archives = ['tar.gz', 'cdx.json']
for (const suffix of [...archives, 'intoto.json', 'SHA256SUMS']) {
  const spoiled = failing((path) => {
    const name = must(`ls '${path}' | grep '${suffix}$'`, folder).trim()
    appendFileSync(join(path, name), ' ')
  })
  check(`a byte more in ${suffix} is found`, spoiled.length > 0)
}
const forged = failing((path) => {
  must("ssh-keygen -t ed25519 -N '' -q -f other && rm SHA256SUMS.sig", path)
  must('ssh-keygen -Y sign -f other -n tributary-release SHA256SUMS', path)
})
check('the signature of another key is found', forged.length > 0)

const unpacked = join(folder, 'unpacked')
mkdirSync(unpacked)
must(`tar -xzf '${first}'/tributary-*.tar.gz -C '${unpacked}' --strip-components=1`, folder)
const files = must(`git -C '${ROOT}' ls-files -z | sort -z | xargs -0 sha256sum | sha256sum`, ROOT)
const same = must(
  `git -C '${ROOT}' ls-files -z | sort -z | xargs -0 sha256sum | sha256sum`.replace(
    /xargs -0 sha256sum/,
    `(cd '${unpacked}' && xargs -0 sha256sum)`,
  ),
  ROOT,
)
check('the archive has the files of the commit', files === same)
const help = shell('npm start --silent -- --help', unpacked)
check('what is unpacked installs and starts', help.ok && help.text.includes('serve'), help.text)

rmSync(folder, { recursive: true, force: true })
report('prove-release', conditions, { ok: isGood, commit: commit.trim(), checks }, [
  ...checks,
  '',
  isGood ? 'PASSED' : 'FAILED',
])
process.exit(isGood ? 0 : 1)
