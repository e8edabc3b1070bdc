/** A reader of the guides: a folder, a shell, and one gateway with simulated vendors. */
import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { SECRET_KEY, startTestGateway, type TestGateway } from '../support/in-process.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { programEnvironment } from '../support/processes.ts'
import { ROOT } from './read-commands.ts'

export interface Stage extends TestGateway {
  readonly home: string
  /** The account whose id stands for `acct_…`. */
  readonly accountId: string
  /** Runs a command as it is printed; throws if it fails. Returns what it prints. */
  run(printed: string): Promise<string>
  /** Writes a file of the reader's folder. */
  write(name: string, content: object | string): void
  /** Forgets what commands have printed and exported. */
  begin(): void
}

const SERVER = join(import.meta.dirname, 'command-server.ts')
/** Ids and keys that a command prints, and that the next ones name. */
const PRINTED = /\b(?:(acct|key|bud|whd|req)_\w{22}|(tr)-\w{40,})\b/g
const PLACEHOLDER = /\b(acct|key|bud|whd|req|tr)(?:_|-)…/g
const CREATES = / (?:create|rotate|test) /

/** Asks the command server; curl sends the words, and the files have what the command prints. */
const PROGRAM = `#!/bin/sh
files="$HOME/.command.$$"
for word do shift; set -- "$@" --data-urlencode "word=$word"; done
code=$("$REAL_CURL" -sS --unix-socket "$COMMANDS" "$@" --data-urlencode "files=$files" \\
  --data-urlencode "environment=$(env)" http://localhost/) || exit 70
cat "$files.out"
cat "$files.err" >&2
exit "$code"
`
const TOOLS = {
  tributary: PROGRAM,
  npx: '#!/bin/sh\nshift\nexec tributary "$@"\n',
  curl: '#!/bin/sh\nexec "$REAL_CURL" -sS --fail-with-body "$@"\n',
  // A machine without jq reads the same member.
  jq: `#!/bin/sh
exec node -p "JSON.parse(fs.readFileSync(0, 'utf8'))$2"
`,
}
/** Parts of a clone that commands of the guides read. */
const CLONE = ['bin', 'catalog', 'deploy', 'examples']

export async function startReader(): Promise<Stage> {
  const home = mkdtempSync(join(tmpdir(), 'tributary-guides-'))
  const gateway = await startTestGateway({
    DATA_DIR: join(home, 'data'),
    ALLOW_PRIVATE_TARGETS: 'true',
    OPERATOR_SECOND_FACTOR: 'optional',
  })
  const empty = await createTestDatabase()
  await empty.sql.unsafe('drop schema public cascade; create schema public')
  const account = await createAccount(gateway.sql, {
    name: 'Acme',
    currency: 'USD',
    openingBalanceNanos: 100_000_000_000n,
    actor: 'test',
  })
  const { id: keyId } = await createKey(gateway.sql, { accountId: account.id })
  const shell = await openShell(home, {
    DATABASE_URL: gateway.databaseUrl,
    EMPTY_DATABASE_URL: empty.url,
  })
  const known = new Map<string, string>()

  function fill(printed: string): string {
    return printed
      .replace(PLACEHOLDER, (placeholder, kind: string) => known.get(kind) ?? placeholder)
      .replaceAll('http://127.0.0.1:8080', gateway.url)
      .replaceAll('/srv/tributary', home)
      .replaceAll('/tmp/drill', join(home, 'drill'))
  }

  return {
    ...gateway,
    home,
    accountId: account.id,
    write: (name, content) =>
      writeFileSync(
        join(home, name),
        typeof content === 'string' ? content : JSON.stringify(content),
      ),
    begin() {
      known.clear()
      known.set('acct', account.id).set('key', keyId)
      writeFileSync(join(home, '.variables'), '')
    },
    async run(printed) {
      const command = fill(printed)
      const said = await shell.run(command)
      if (!CREATES.test(command)) return said
      for (const { 0: value, 1: id, 2: key } of said.matchAll(PRINTED)) {
        known.set(id ?? key ?? '', value)
      }
      return said
    },
    async stop() {
      await shell.stop()
      await gateway.stop()
      await empty.drop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Opens shells whose variables go from one command to the next. */
async function openShell(home: string, databases: Readonly<Record<string, string>>) {
  const tools = join(home, '.tools')
  mkdirSync(tools)
  for (const [name, script] of Object.entries(TOOLS)) {
    writeFileSync(join(tools, name), script)
    chmodSync(join(tools, name), 0o755)
  }
  for (const name of CLONE) symlinkSync(join(ROOT, name), join(home, name))
  const socket = join(home, '.commands')
  const { stdout } = await promisify(execFile)('sh', ['-c', 'command -v curl'])
  const { PATH, TMPDIR } = programEnvironment()
  const environment = {
    ...databases,
    PATH: `${tools}:${PATH}`,
    TMPDIR,
    HOME: home,
    DATA_DIR: join(home, 'data'),
    SECRET_KEY,
    REAL_CURL: stdout.trim(),
    COMMANDS: socket,
    TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
  }
  const server = fork(SERVER, [socket, environment.DATA_DIR], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  await Promise.race([once(server.stdout ?? server, 'data'), refuseExit(server)])
  return {
    async run(command: string): Promise<string> {
      const script = `set -a
. "$HOME/.variables"
${command}
code=$?
export -p > "$HOME/.variables"
exit $code`
      const options = { cwd: home, env: environment, maxBuffer: 2 ** 26 }
      try {
        return (await promisify(execFile)('sh', ['-c', script], options)).stdout
      } catch (error) {
        const { stdout, stderr } = error as { stdout?: string; stderr?: string }
        throw new Error(`${command}\n${stdout}${stderr}`, { cause: error })
      }
    },
    async stop() {
      const isOver = server.exitCode !== null || server.signalCode !== null
      const gone = isOver || once(server, 'exit')
      server.kill()
      await gone
    },
  }
}

async function refuseExit(server: ChildProcess): Promise<never> {
  const [code] = await once(server, 'exit')
  throw new Error(`the command server ended with ${code}`)
}
