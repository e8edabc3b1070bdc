/**
 * The command-line agents as published on npm: their installation, their start against a
 * gateway, and the names of their tools.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export const VERSIONS = {
  '@anthropic-ai/claude-code': '2.1.329',
  '@openai/codex': '0.169.0',
  '@qwen-code/qwen-code': '0.24.4',
  'opencode-ai': '1.18.33',
}
const RUN_MS_MAX = 120_000

/** The environment of one agent run. */
export interface Scene {
  readonly url: string
  readonly key: string
  readonly model: string
  readonly prompt: string
  /** Its working folder, which contains only `picture.png`. */
  readonly folder: string
  /** A home folder of its own. */
  readonly home: string
}

export interface Agent {
  readonly name: string
  readonly models: readonly string[]
  /** Returns directives that make the simulated model run a shell command. */
  readonly shell: (command: string) => string
  /** Returns directives that make it view a picture; absent if it shows none to unknown models. */
  readonly viewPicture?: (picture: string) => string
  readonly start: (scene: Scene) => Promise<Finished>
}

export interface Finished {
  readonly code: number | null
  readonly output: string
}

/**
 * Installs the agents into a folder beside the repository's packages and keeps them between runs:
 * they take more than a gigabyte.
 */
export function installAgents(): string {
  const folder =
    process.env.AGENTS_FOLDER ?? join(homedir(), '.cache', 'tributary', 'prove-clients')
  const manifest = JSON.stringify({ private: true, dependencies: VERSIONS })
  const file = join(folder, 'package.json')
  const isThere = existsSync(join(folder, 'node_modules', '.package-lock.json'))
  if (isThere && readFileSync(file, 'utf8') === manifest) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, manifest)
  const npm = ['install', '--prefix', folder, '--no-audit', '--no-fund']
  const { status, stderr } = spawnSync('npm', npm, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm install: ${stderr}`)
  return folder
}

function run(
  command: readonly string[],
  scene: Scene,
  env: Readonly<Record<string, string>>,
): Promise<Finished> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd: scene.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: scene.home, ...env },
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })
}

function claudeCode(folder: string, mode: readonly string[]): Agent {
  const program = join(folder, 'node_modules', '.bin', 'claude')
  const words = (name: string, input: object) => `[[tool:${name} ${JSON.stringify(input)}]]`
  return {
    name: ['Claude Code', ...mode].join(' '),
    models: ['sim-chat', 'sim-claude'],
    shell: (command) => words('Bash', { command, description: 'the proof' }),
    viewPicture: (picture) => words('Read', { file_path: picture }),
    start(scene) {
      const allowed = ['--allowedTools', 'Bash,Read', '--output-format', 'json']
      return run([program, ...mode, '-p', scene.prompt, ...allowed], scene, {
        ANTHROPIC_BASE_URL: scene.url,
        ANTHROPIC_AUTH_TOKEN: scene.key,
        ANTHROPIC_MODEL: scene.model,
        CLAUDE_CODE_MAX_RETRIES: '2',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      })
    },
  }
}

function codex(folder: string): Agent {
  const program = join(folder, 'node_modules', '.bin', 'codex')
  const words = (name: string, input: object) => `[[tool:${name} ${JSON.stringify(input)}]]`
  return {
    name: 'Codex',
    models: ['sim-chat', 'translated'],
    shell: (command) => words('exec_command', { cmd: command }),
    viewPicture: (picture) => words('view_image', { path: picture }),
    start(scene) {
      const config = [
        `model = "${scene.model}"`,
        'model_provider = "gateway"',
        'check_for_update_on_startup = false',
        '[model_providers.gateway]',
        'name = "gateway"',
        `base_url = "${scene.url}/v1"`,
        'env_key = "GATEWAY_KEY"',
        'wire_api = "responses"',
        '[analytics]',
        'enabled = false',
      ]
      writeFileSync(join(scene.home, 'config.toml'), `${config.join('\n')}\n`)
      const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
      return run([program, 'exec', ...flags, '--json', scene.prompt], scene, {
        CODEX_HOME: scene.home,
        GATEWAY_KEY: scene.key,
      })
    },
  }
}

function qwenCode(folder: string): Agent {
  const program = join(folder, 'node_modules', '.bin', 'qwen')
  const words = (name: string, input: object) => `[[tool:${name} ${JSON.stringify(input)}]]`
  return {
    name: 'Qwen Code',
    models: ['sim-chat', 'sim-claude'],
    shell: (command) =>
      words('run_shell_command', { command, description: 'the proof', is_background: false }),
    start(scene) {
      const flags = ['--yolo', '--auth-type', 'openai', '--output-format', 'json']
      return run([program, ...flags, '-p', scene.prompt], scene, {
        OPENAI_BASE_URL: `${scene.url}/v1`,
        OPENAI_API_KEY: scene.key,
        OPENAI_MODEL: scene.model,
      })
    },
  }
}

function opencode(folder: string): Agent {
  const program = join(folder, 'node_modules', '.bin', 'opencode')
  const words = (name: string, input: object) => `[[tool:${name} ${JSON.stringify(input)}]]`
  return {
    name: 'opencode',
    models: ['sim-chat', 'sim-claude'],
    shell: (command) => words('bash', { command, description: 'the proof' }),
    viewPicture: (picture) => words('read', { filePath: picture }),
    start(scene) {
      const modalities = { input: ['text', 'image'], output: ['text'] }
      const config = {
        autoupdate: false,
        share: 'disabled',
        permission: { '*': 'allow' },
        provider: {
          gateway: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${scene.url}/v1`, apiKey: scene.key },
            models: { [scene.model]: { attachment: true, modalities } },
          },
        },
      }
      const file = join(scene.home, 'opencode.json')
      writeFileSync(file, JSON.stringify(config))
      const model = `gateway/${scene.model}`
      // An argument with spaces would be quoted once more.
      const prompt = scene.prompt.split(' ')
      return run([program, 'run', '--format', 'json', '-m', model, ...prompt], scene, {
        OPENCODE_CONFIG: file,
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      })
    },
  }
}

export function listAgents(folder: string): readonly Agent[] {
  return [
    claudeCode(folder, []),
    claudeCode(folder, ['--bare']),
    codex(folder),
    qwenCode(folder),
    opencode(folder),
  ]
}
