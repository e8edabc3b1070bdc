/** Every client of the proof at its exact version. */
import { serviceAccountOf } from '../../simulators/google/tokens.ts'
import {
  type Agent,
  claudeCode,
  cline,
  codex,
  continueCli,
  geminiCli,
  opencode,
  qwenCode,
} from './agents.ts'
import type { Packages } from './install.ts'

interface Client {
  /** Its folder, and its name on the command line. */
  readonly id: string
  readonly name: string
  readonly packages: Packages
}

/** A command-line program that works in a folder. */
export interface Program extends Client {
  readonly agents: (folder: string) => readonly Agent[]
}

/** Packages that a script uses. */
export interface Library extends Client {
  /** A file of `libraries/`. */
  readonly script: string
  readonly models: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A call at the vendor itself, which has to receive the same by way of the gateway. */
  readonly straight?: Straight
}

export interface Straight {
  /** The vendor's own name of the model. */
  readonly model: string
  readonly credentials: (simulatorsUrl: string) => object
}

const BOTH = ['sim-chat', 'sim-claude']

const PROGRAMS: readonly Program[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    packages: { '@anthropic-ai/claude-code': '2.1.329' },
    agents: (folder) => [claudeCode(folder, []), claudeCode(folder, ['--bare'])],
  },
  {
    id: 'codex',
    name: 'Codex',
    packages: { '@openai/codex': '0.169.0' },
    agents: (folder) => [codex(folder)],
  },
  {
    id: 'qwen-code',
    name: 'Qwen Code',
    packages: { '@qwen-code/qwen-code': '0.24.4' },
    agents: (folder) => [qwenCode(folder)],
  },
  {
    id: 'opencode',
    name: 'opencode',
    packages: { 'opencode-ai': '1.18.33' },
    agents: (folder) => [opencode(folder)],
  },
  {
    id: 'cline',
    name: 'Cline',
    packages: { cline: '3.0.65' },
    agents: (folder) => [cline(folder)],
  },
  {
    id: 'gemini-cli',
    name: 'Gemini CLI',
    packages: { '@google/gemini-cli': '0.61.0' },
    agents: (folder) => [geminiCli(folder)],
  },
  {
    id: 'continue',
    name: 'Continue',
    packages: { '@continuedev/cli': '1.5.47' },
    agents: (folder) => [continueCli(folder, 'openai'), continueCli(folder, 'anthropic')],
  },
]

const LIBRARIES: readonly Library[] = [
  {
    id: 'openai-3',
    name: 'openai 3',
    packages: { openai: '3.3.0' },
    script: 'openai-3.mjs',
    models: BOTH,
  },
  ...['4.104.0', '5.23.2', '6.49.0'].map((version) => ({
    id: `openai-${version[0]}`,
    name: `openai ${version[0]}`,
    packages: { openai: version, zod: '3.25.76' },
    script: 'openai.mjs',
    models: BOTH,
  })),
  ...['0.20.9', '0.39.0', '0.71.2'].map((version) => ({
    id: `anthropic-${version.replace(/\.\d+$/, '')}`,
    name: `@anthropic-ai/sdk ${version.replace(/\.\d+$/, '')}`,
    packages: { '@anthropic-ai/sdk': version },
    script: 'anthropic.mjs',
    models: BOTH,
  })),
  {
    id: 'bedrock-sdk',
    name: '@anthropic-ai/bedrock-sdk',
    packages: { '@anthropic-ai/bedrock-sdk': '1.1.3', '@anthropic-ai/sdk': '1.14.0' },
    script: 'anthropic-clouds.mjs',
    models: ['claude-bedrock'],
    env: { CLOUD: 'bedrock' },
    straight: {
      model: 'us.anthropic.sim-claude-v1:0',
      credentials: () => ({
        awsRegion: 'us-east-1',
        awsAccessKey: 'AKIASIMULATOR',
        awsSecretKey: 'sim-bedrock-secret',
      }),
    },
  },
  {
    id: 'vertex-sdk',
    name: '@anthropic-ai/vertex-sdk',
    packages: {
      '@anthropic-ai/vertex-sdk': '1.1.3',
      '@anthropic-ai/sdk': '1.14.0',
      'google-auth-library': '10.9.1',
    },
    script: 'anthropic-clouds.mjs',
    models: ['claude-vertex'],
    env: { CLOUD: 'vertex' },
    straight: {
      model: 'sim-claude@20260101',
      credentials: (simulatorsUrl) => ({
        account: serviceAccountOf(simulatorsUrl),
        region: 'global',
      }),
    },
  },
  {
    id: 'openai-agents',
    name: '@openai/agents',
    packages: { '@openai/agents': '0.20.0', openai: '7.55.0', zod: '4.6.7' },
    script: 'openai-agents.mjs',
    models: BOTH,
  },
  {
    id: 'mastra',
    name: 'Mastra',
    packages: { '@mastra/core': '1.71.0', zod: '4.6.7' },
    script: 'mastra.mjs',
    models: BOTH,
  },
  ...['openai', 'anthropic'].map((provider) => ({
    id: 'llamaindex',
    name: `LlamaIndex, ${provider}`,
    packages: {
      llamaindex: '0.12.1',
      '@llamaindex/openai': '0.4.23',
      '@llamaindex/anthropic': '0.3.27',
      zod: '4.6.7',
    },
    script: 'llamaindex.mjs',
    models: BOTH,
    env: { PROVIDER: provider },
  })),
  ...['chat', 'responses', 'anthropic'].map((provider) => ({
    id: 'langgraph',
    name: `LangGraph, ${provider}`,
    packages: {
      '@langchain/langgraph': '1.7.3',
      '@langchain/core': '1.4.0',
      '@langchain/openai': '1.6.0',
      '@langchain/anthropic': '1.5.11',
      zod: '4.6.7',
    },
    script: 'langgraph.mjs',
    models: BOTH,
    env: { PROVIDER: provider },
  })),
  {
    id: 'instructor',
    name: 'Instructor',
    packages: { '@instructor-ai/instructor': '1.7.0', openai: '4.104.0', zod: '3.25.76' },
    script: 'instructor.mjs',
    models: BOTH,
  },
  {
    id: 'langfuse',
    name: 'Langfuse',
    packages: {
      '@langfuse/openai': '5.11.1',
      '@opentelemetry/api': '1.9.0',
      '@opentelemetry/sdk-trace-base': '2.12.1',
      '@opentelemetry/sdk-trace-node': '2.12.0',
      openai: '7.55.0',
    },
    script: 'langfuse.mjs',
    models: BOTH,
  },
  {
    id: 'google-genai',
    name: '@google/genai',
    packages: { '@google/genai': '3.3.0' },
    script: 'google-genai.mjs',
    models: ['sim-gemini-3'],
  },
  {
    id: 'ai-sdk-google',
    name: '@ai-sdk/google',
    packages: { '@ai-sdk/google': '4.0.121', ai: '7.0.173', zod: '4.6.7' },
    script: 'ai-sdk-google.mjs',
    models: ['sim-gemini-3'],
  },
  {
    id: 'cohere',
    name: 'cohere-ai',
    packages: { 'cohere-ai': '8.1.0' },
    script: 'cohere.mjs',
    models: [],
  },
  {
    id: 'ai-sdk-bytedance',
    name: '@ai-sdk/bytedance',
    packages: { '@ai-sdk/bytedance': '1.0.29', ai: '7.0.173' },
    script: 'ai-sdk-bytedance.mjs',
    models: [],
  },
  {
    id: 'ai-sdk-minimax',
    name: '@ai-sdk/minimax',
    packages: { '@ai-sdk/minimax': '3.0.45', ai: '7.0.173', zod: '4.6.7' },
    script: 'ai-sdk-minimax.mjs',
    models: BOTH,
  },
  ...['openai:chat', 'openai:responses', 'anthropic:messages'].map((provider) => ({
    id: 'promptfoo',
    name: `promptfoo, ${provider}`,
    packages: { promptfoo: '0.123.1' },
    script: 'promptfoo.mjs',
    models: BOTH,
    env: {
      PROVIDER: provider,
      PROMPTFOO_DISABLE_TELEMETRY: '1',
      PROMPTFOO_DISABLE_UPDATE: '1',
      PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
    },
  })),
]

export const CLIENTS: readonly (Program | Library)[] = [...PROGRAMS, ...LIBRARIES]
