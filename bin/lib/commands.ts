/** The commands by name, in the order of the help. */
import type { Command } from 'commander'

type AddCommand = (program: Command) => void

const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  serve: async () => (await import('../commands/run/serve.ts')).addServeCommand,
  simulate: async () => (await import('../commands/run/simulate.ts')).addSimulateCommand,
  apply: async () => (await import('../commands/catalog/apply.ts')).addApplyCommand,
  export: async () => (await import('../commands/catalog/export.ts')).addExportCommand,
  catalog: async () => (await import('../commands/catalog/catalog.ts')).addCatalogCommands,
  account: async () => (await import('../commands/access/account.ts')).addAccountCommands,
  key: async () => (await import('../commands/access/key.ts')).addKeyCommands,
  credit: async () => (await import('../commands/money/credit.ts')).addCreditCommand,
  budget: async () => (await import('../commands/money/budget.ts')).addBudgetCommands,
  user: async () => (await import('../commands/access/user.ts')).addUserCommands,
  'sign-up': async () => (await import('../commands/access/sign-up.ts')).addSignUpCommands,
  member: async () => (await import('../commands/access/member.ts')).addMemberCommands,
  token: async () => (await import('../commands/access/token.ts')).addTokenCommands,
  subject: async () => (await import('../commands/access/subject.ts')).addSubjectCommands,
  usage: async () => (await import('../commands/money/usage.ts')).addUsageCommands,
  task: async () => (await import('../commands/work/task.ts')).addTaskCommands,
  files: async () => (await import('../commands/work/files.ts')).addFilesCommands,
  webhook: async () => (await import('../commands/work/webhook.ts')).addWebhookCommands,
  mail: async () => (await import('../commands/work/mail.ts')).addMailCommands,
  channel: async () => (await import('../commands/catalog/channel.ts')).addChannelCommands,
  model: async () => (await import('../commands/catalog/model.ts')).addModelCommands,
  demo: async () => (await import('../commands/catalog/demo.ts')).addDemoCommands,
  routes: async () => (await import('../commands/catalog/routes.ts')).addRoutesCommand,
  audit: async () => (await import('../commands/money/audit.ts')).addAuditCommand,
  reconcile: async () => (await import('../commands/money/reconcile.ts')).addReconcileCommand,
  checkpoint: async () => (await import('../commands/money/checkpoint.ts')).addCheckpointCommands,
  migrate: async () => (await import('../commands/database/migrate.ts')).addMigrateCommand,
  backup: async () => (await import('../commands/database/backup.ts')).addBackupCommand,
  restore: async () => (await import('../commands/database/restore.ts')).addRestoreCommand,
  archive: async () => (await import('../commands/database/archive.ts')).addArchiveCommands,
  rekey: async () => (await import('../commands/database/rekey.ts')).addRekeyCommand,
  config: async () => (await import('../commands/run/config.ts')).addConfigCommand,
}

/**
 * Loads only the command of this name: each needs different parts of the gateway, and loading all
 * of them takes longer than most commands run. Loads all for the help and for a mistyped name.
 */
export function loadCommands(name: string | undefined): Promise<AddCommand[]> {
  const one = name === undefined || !Object.hasOwn(COMMANDS, name) ? undefined : COMMANDS[name]
  return Promise.all((one ? [one] : Object.values(COMMANDS)).map((load) => load()))
}
