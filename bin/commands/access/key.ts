/** `tributary key …`: API keys. A key's text is printed once, at its creation. */
import { type Command, Option } from 'commander'
import type { Sql } from 'postgres'
import { formatAmount, type Nanos } from '../../../server/base/lib/money.ts'
import { readMember } from '../../../server/money/accounts/key-holder-store.ts'
import { mergeLimits } from '../../../server/money/accounts/manage-accounts.ts'
import {
  type ApiKeyRow,
  changeKey,
  createKey,
  type KeyLabels,
  listKeys,
  rotateKey,
  setKeyDisabled,
  showKey,
} from '../../../server/money/accounts/manage-keys.ts'
import { refuseUnknownModels } from '../../lib/known-models.ts'
import {
  addLimitOptions,
  describeLimits,
  type LimitOptions,
  limitsChange,
} from '../../lib/limits.ts'
import {
  list,
  type None,
  networkList,
  noneToNull,
  orNone,
  parseExpiryOption,
  positiveAmount,
  seconds,
} from '../../lib/parse.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { recordAct, withSession } from '../../lib/session.ts'

const KEY_PATH = '/accounts/:account_id/keys/:key_id'

interface JsonOption {
  readonly json?: boolean
}

interface ContentOptions extends JsonOption, LimitOptions {
  readonly name?: string
  readonly models?: string[] | None
  readonly spendLimit?: Nanos | None
  readonly expires?: Date | None
  readonly member?: string | None
  readonly tags?: string[] | None
  readonly requiredTags?: string[] | None
  readonly allowTags?: boolean
  readonly costInAnswers?: boolean
  readonly allowedIps?: string[] | None
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('create, list, disable, rotate and limit API keys')
  addCreate(key)
  addList(key)
  addSwitch(key, 'disable', true, 'refuse a key within 5 seconds, everywhere')
  addSwitch(key, 'enable', false, 'enable a disabled key')
  addRotate(key)
  addUpdate(key)
}

function addContentOptions(command: Command): Command {
  command
    .option('--name <name>', 'display name')
    .option('--models <ids>', 'models that it may call, such as a,b, or none for all', orNone(list))
    .option('--spend-limit <amount>', 'total spend limit, or none', orNone(positiveAmount))
    .option(
      '--expires <when>',
      'a day such as 2030-12-31, or 30d, or none',
      orNone(parseExpiryOption),
    )
    .option(
      '--member <email>',
      'member it belongs to, with whose membership it ends, or none',
      orNone(String),
    )
    .option('--tags <tags>', 'tags of every call, such as a,b, or none', orNone(list))
    .option('--allow-tags', 'let callers add tags (X-Tags, metadata.tags)')
    .option('--no-allow-tags', 'refuse X-Tags of callers again')
    .option('--required-tags <tags>', 'tags that each call must state, or none', orNone(list))
    .option('--allowed-ips <networks>', 'where calls may come from, or none', orNone(networkList))
    .option('--cost-in-answers', 'state the charge in answers, as usage.cost')
    .option('--no-cost-in-answers', 'state it only where a call asks for it')
  return addLimitOptions(command).option('--json', 'as JSON')
}

function addCreate(key: Command): void {
  const create = key
    .command('create')
    .description('create a key; it is shown only once')
    .requiredOption('--account <account>', 'account of the key')
  addContentOptions(create)
    .addHelpText(
      'after',
      `
Examples:
  tributary key create --account acct_… --name web
  tributary key create --account acct_… --models gpt-4o --spend-limit 50 \\
    --expires 90d
  tributary key create --account acct_… --tags web --required-tags team \\
    --cost-in-answers
  tributary key create --account acct_… --allowed-ips 10.0.0.0/8,2001:db8::/32`,
    )
    .action((options: ContentOptions & { readonly account: string }) =>
      withSession(async ({ sql }) => {
        await refuseUnknownModels(sql, noneToNull(options.models ?? 'none'))
        const created = await createKey(sql, {
          accountId: options.account,
          name: options.name ?? '',
          models: noneToNull(options.models ?? 'none'),
          limits: mergeLimits({}, limitsChange(options)),
          spendLimitNanos: noneToNull(options.spendLimit ?? 'none'),
          expiresAt: noneToNull(options.expires ?? 'none'),
          labels: readLabelOptions(options),
          allowedIps: noneToNull(options.allowedIps ?? 'none') ?? [],
          personId: (await readHolder(sql, options.account, options.member)) ?? null,
        })
        const subject = { target: options.account, accountId: options.account }
        await recordAct(sql, 'POST /accounts/:account_id/keys', subject, { key_id: created.id })
        show(created, options)
      }),
    )
}

function addList(key: Command): void {
  key
    .command('list')
    .description('list the keys of an account')
    .requiredOption('--account <account>', 'account of the keys')
    .option('--json', 'as JSON')
    .action((options: JsonOption & { readonly account: string }) =>
      withSession(async ({ sql }) => printKeys(await listKeys(sql, options.account), options)),
    )
}

function addSwitch(key: Command, name: string, disabled: boolean, description: string): void {
  key
    .command(`${name} <key>`)
    .description(`${description}; <key> is its id`)
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async ({ sql }) => {
        const changed = await setKeyDisabled(sql, id, disabled)
        await recordAct(sql, `POST ${KEY_PATH}/${name}`, { target: id })
        show(changed, options)
      }),
    )
}

function addRotate(key: Command): void {
  key
    .command('rotate <key>')
    .description('replace a key; the old one keeps working for the overlap')
    .addOption(
      new Option('--overlap <duration>', 'how long the old key keeps working, 0 to end it now')
        .argParser(seconds)
        .default(86_400, '24h'),
    )
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary key rotate key_… --overlap 24h')
    .action((id: string, options: JsonOption & { readonly overlap: number }) =>
      withSession(async ({ sql }) => {
        const { created, old } = await rotateKey(sql, id, options.overlap)
        await recordAct(sql, `POST ${KEY_PATH}/rotate`, { target: id }, { new_key_id: created.id })
        if (options.json) return printJson({ ...created, replaces: old })
        show(created, options)
        console.log(`\nThe old key ${old.display} works until ${printTime(old.expires_at)} UTC.`)
      }),
    )
}

function addUpdate(key: Command): void {
  addContentOptions(
    key.command('update <key>').description('change a key’s models, limits or expiry'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  tributary key update key_… --spend-limit 100 --models none',
    )
    .action((id: string, options: ContentOptions) =>
      withSession(async ({ sql }) => {
        const { name, models, spendLimit, expires, member, allowedIps } = options
        const { account_id: accountId, models: stored } = await showKey(sql, id)
        const added = noneToNull(models ?? 'none')?.filter((one) => !stored?.includes(one))
        await refuseUnknownModels(sql, added)
        const changed = await changeKey(sql, id, {
          personId: await readHolder(sql, accountId, member),
          labels: readLabelOptions(options),
          ...(name === undefined ? {} : { name }),
          ...(models === undefined ? {} : { models: noneToNull(models) }),
          ...(spendLimit === undefined ? {} : { spendLimitNanos: noneToNull(spendLimit) }),
          ...(expires === undefined ? {} : { expiresAt: noneToNull(expires) }),
          ...(allowedIps === undefined ? {} : { allowedIps: noneToNull(allowedIps) ?? [] }),
          limits: limitsChange(options),
        })
        await recordAct(sql, `PATCH ${KEY_PATH}`, { target: id })
        show(changed, options)
      }),
    )
}

/** Returns the id of the member that `--member` names; null for `none`. */
async function readHolder(sql: Sql, accountId: string, member: string | None | undefined) {
  if (member === undefined) return undefined
  return member === 'none' ? null : await readMember(sql, accountId, member)
}

function readLabelOptions(options: ContentOptions): Partial<KeyLabels> {
  const { tags, requiredTags, allowTags, costInAnswers } = options
  return {
    ...(tags === undefined ? {} : { tags: noneToNull(tags) ?? [] }),
    ...(requiredTags === undefined ? {} : { required_tags: noneToNull(requiredTags) ?? [] }),
    ...(allowTags === undefined ? {} : { allow_tags: allowTags }),
    ...(costInAnswers === undefined ? {} : { cost_in_answers: costInAnswers }),
  }
}

function printKeys(rows: readonly ApiKeyRow[], options: JsonOption) {
  if (options.json) return printJson(rows)
  printTable(
    rows,
    [
      { title: 'id', cell: ({ id }) => id },
      { title: 'name', cell: ({ name }) => name },
      { title: 'key', cell: ({ display }) => display },
      { title: 'state', cell: ({ state }) => state },
      { title: 'models', cell: ({ models }) => models?.join(',') ?? 'all' },
      { title: 'spent', cell: describeSpend, right: true },
      { title: 'expires', cell: (row) => printTime(row.expires_at) },
      { title: 'created', cell: (row) => printTime(row.created_at) },
    ],
    'This account has no keys yet: tributary key create --account …',
  )
}

function describeSpend({ spend_limit, spent, currency }: ApiKeyRow): string {
  if (spend_limit === null) return ''
  return `${formatAmount(spent ?? 0n)} of ${formatAmount(spend_limit)} ${currency}`
}

function show(row: ApiKeyRow & { readonly key?: string }, options: JsonOption) {
  if (options.json) return printJson(row)
  printFields({
    id: row.id,
    key: row.key ?? row.display,
    account: row.account_id,
    name: row.name || null,
    state: row.state,
    models: row.models?.join(', ') ?? 'all',
    limits: describeLimits(row.limits),
    spent: row.spend_limit === null ? null : describeSpend(row),
    tags: row.tags.join(', ') || null,
    'required tags': row.required_tags.join(', ') || null,
    'tags of callers': row.allow_tags ? 'allowed' : null,
    'allowed from': row.allowed_ips.join(', ') || null,
    'cost in answers': row.cost_in_answers ? 'yes' : null,
    expires: row.expires_at && `${printTime(row.expires_at)} UTC`,
  })
  if (row.key) console.log('\nSave the key now: it cannot be shown again.')
}
