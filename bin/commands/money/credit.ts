/** `tributary credit`: credits or debits an account, or forgives debt; always with a reason. */

import { type Command, Option } from 'commander'
import { newId } from '../../../server/base/lib/ids.ts'
import { CREDIT_KINDS } from '../../../server/base/lib/kinds-and-states.ts'
import { formatAmount, type Nanos } from '../../../server/base/lib/money.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { showAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { postCredit } from '../../../server/money/ledger/store.ts'
import { parseAmountOption } from '../../lib/parse.ts'
import { printFields, printJson } from '../../lib/print.ts'
import { actor, type CommandSession, recordAct, withSession } from '../../lib/session.ts'

const POST_CREDIT = 'POST /operator/accounts/:account_id/credits'

interface CreditOptions {
  readonly account: string
  readonly amount: Nanos
  readonly reason: string
  readonly kind: (typeof CREDIT_KINDS)[number]
  readonly event?: string
  readonly json?: boolean
}

export function addCreditCommand(program: Command): void {
  program
    .command('credit')
    .description('credit or debit an account, or forgive debt')
    .requiredOption('--account <account>', 'account to credit')
    .requiredOption(
      '--amount <amount>',
      'decimal amount; negative only for an adjustment',
      parseAmountOption,
    )
    .requiredOption('--reason <text>', 'reason, kept permanently')
    .addOption(
      new Option('--kind <kind>', 'kind of credit').choices(CREDIT_KINDS).default('top_up'),
    )
    .option('--event <id>', "payment provider's event id; each event is credited once")
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Examples:
  tributary credit --account acct_… --amount 50 --reason "invoice 17" \\
    --event pay_17
  tributary credit --account acct_… --amount -3.5 --kind adjustment \\
    --reason "paid twice"`,
    )
    .action((options: CreditOptions) => withSession((session) => credit(session, options)))
}

async function credit({ sql }: CommandSession, options: CreditOptions): Promise<void> {
  checkOptions(options)
  const before = await showAccount(sql, options.account)
  const id = newId('cred')
  const posted = await postCredit(sql, {
    id,
    accountId: options.account,
    kind: options.kind,
    amountNanos: options.amount,
    reason: options.reason,
    actor: actor(),
    eventId: options.event ?? null,
  }).catch((error) => {
    throw isCheckViolation(error) ? tooMuch(options, before) : error
  })
  const { account: target, kind, reason } = options
  const amount = formatAmount(options.amount)
  const details = { amount, currency: before.currency, kind, reason }
  const subject = { target, accountId: target }
  if (posted) await recordAct(sql, POST_CREDIT, subject, details)
  const { available, held, debt, currency } = await showAccount(sql, options.account)
  if (options.json) {
    const account = { account_id: options.account, currency, available, held, debt }
    return printJson({ posted, id: posted ? id : null, ...account })
  }
  if (!posted) console.log(`The event ${options.event} was credited before: nothing was done.`)
  printFields({
    credit: posted ? id : null,
    account: options.account,
    available: `${formatAmount(available)} ${currency}`,
    debt: `${formatAmount(debt)} ${currency}`,
  })
}

function checkOptions({ amount: nanos, kind, reason }: CreditOptions): void {
  if (nanos === 0n) throw new OperatorError('an amount of zero changes nothing')
  if (nanos < 0n && kind !== 'adjustment') {
    throw new OperatorError('only an adjustment can be negative: add --kind adjustment')
  }
  if (reason.trim() === '' || reason.length > 500) {
    throw new OperatorError('a reason needs 1 to 500 characters')
  }
}

function tooMuch(
  { kind }: CreditOptions,
  { available, debt, currency }: { available: bigint; debt: bigint; currency: string },
): OperatorError {
  return kind === 'forgiveness'
    ? new OperatorError(`only the debt of ${formatAmount(debt)} ${currency} can be forgiven`)
    : new OperatorError(`only ${formatAmount(available)} ${currency} is available to take back`)
}

function isCheckViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23514'
}
