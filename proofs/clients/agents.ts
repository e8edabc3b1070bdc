/** The command-line agents: their start against a gateway, and the names of their tools. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const RUN_MS_MAX = 120_000

/** Returns a directive that makes the simulated model call a tool. */
const useTool = (name: string, input: object) => `[[tool:${name} ${JSON.stringify(input)}]]`

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
  /** True if it shows that a stream died, and leaves the repetition to its user. */
  readonly givesUp?: boolean
  /** True if it runs the call of a stream that died and that of its repeat: the text has to die. */
  readonly runsBroken?: boolean
  readonly start: (scene: Scene) => Promise<Finished>
}

export interface Finished {
  readonly code: number | null
  readonly output: string
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

export function claudeCode(folder: string, mode: readonly string[]): Agent {
  const program = join(folder, 'node_modules', '.bin', 'claude')
  return {
    name: ['Claude Code', ...mode].join(' '),
    models: ['sim-chat', 'sim-claude', 'claude-bedrock', 'claude-vertex'],
    shell: (command) => useTool('Bash', { command, description: 'the proof' }),
    viewPicture: (picture) => useTool('Read', { file_path: picture }),
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

export function codex(folder: string): Agent {
  const program = join(folder, 'node_modules', '.bin', 'codex')
  return {
    name: 'Codex',
    models: ['sim-chat', 'translated'],
    shell: (command) => useTool('exec_command', { cmd: command }),
    viewPicture: (picture) => useTool('view_image', { path: picture }),
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

export function qwenCode(folder: string): Agent {
  const program = join(folder, 'node_modules', '.bin', 'qwen')
  return {
    name: 'Qwen Code',
    models: ['sim-chat', 'sim-claude'],
    shell: (command) =>
      useTool('run_shell_command', { command, description: 'the proof', is_background: false }),
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

/** Its settings name how it signs in: by a key, at the address of the environment. */
export function geminiCli(folder: string): Agent {
  const program = join(folder, 'node_modules', '.bin', 'gemini')
  return {
    name: 'Gemini CLI',
    models: ['sim-gemini-3'],
    runsBroken: true,
    shell: (command) => useTool('run_shell_command', { command, description: 'the proof' }),
    viewPicture: (picture) => useTool('read_file', { file_path: picture }),
    start(scene) {
      const settings = {
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        security: { auth: { selectedType: 'gemini-api-key' } },
      }
      mkdirSync(join(scene.home, '.gemini'), { recursive: true })
      writeFileSync(join(scene.home, '.gemini', 'settings.json'), JSON.stringify(settings))
      const flags = ['--yolo', '--skip-trust', '--output-format', 'json', '-m', scene.model]
      return run([program, ...flags, '-p', scene.prompt], scene, {
        GOOGLE_GEMINI_BASE_URL: scene.url,
        GEMINI_API_KEY: scene.key,
      })
    },
  }
}

export function opencode(folder: string): Agent {
  const program = join(folder, 'node_modules', '.bin', 'opencode')
  return {
    name: 'opencode',
    models: ['sim-chat', 'sim-claude'],
    shell: (command) => useTool('bash', { command, description: 'the proof' }),
    viewPicture: (picture) => useTool('read', { filePath: picture }),
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

/** Its command line takes an address for providers of OpenAI's form alone. */
export function cline(folder: string): Agent {
  const provider = 'openai-compatible'
  const program = join(folder, 'node_modules', '.bin', 'cline')
  return {
    name: 'Cline',
    models: ['sim-chat', 'sim-claude'],
    givesUp: true,
    shell: (command) => useTool('run_commands', { commands: [command] }),
    viewPicture: (picture) => useTool('read_files', { files: [{ path: picture }] }),
    async start(scene) {
      const env = { CLINE_TELEMETRY_DISABLED: '1' }
      const data = ['--data-dir', scene.home]
      const url = `${scene.url}/v1`
      const flags = ['-p', provider, '-k', scene.key, '-m', scene.model, '-b', url]
      const done = await run([program, 'auth', ...flags, ...data], scene, env)
      if (done.code !== 0) return done
      return run([program, '--json', '-P', provider, ...data, scene.prompt], scene, env)
    },
  }
}

/** `provider` is Continue's own name of a protocol. */
export function continueCli(folder: string, provider: string): Agent {
  const program = join(folder, 'node_modules', '.bin', 'cn')
  return {
    name: `Continue, ${provider}`,
    models: ['sim-chat', 'sim-claude'],
    givesUp: provider === 'anthropic',
    shell: (command) => useTool('Bash', { command }),
    start(scene) {
      const model = {
        name: 'gateway',
        provider,
        model: scene.model,
        apiBase: `${scene.url}/v1`,
        apiKey: scene.key,
        capabilities: ['tool_use', 'image_input'],
      }
      const config = { name: 'gateway', version: '1.0.0', schema: 'v1', models: [model] }
      const file = join(scene.home, 'config.yaml')
      // YAML contains JSON.
      writeFileSync(file, JSON.stringify(config))
      const flags = ['-p', '--auto', '--config', file, '--format', 'json']
      return run([program, ...flags, scene.prompt], scene, {
        CONTINUE_GLOBAL_DIR: scene.home,
        CONTINUE_CLI_ENABLE_TELEMETRY: '0',
      })
    },
  }
}
