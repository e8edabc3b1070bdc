/** Mail in English. */
import { isRefusal, type MailTexts, type Words } from './mail-texts.ts'

const PERIODS: Readonly<Record<string, string>> = {
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  total: 'total',
}

const UNITS: Readonly<Record<string, string>> = {
  call: 'calls',
  input_token: 'input tokens',
  output_token: 'output tokens',
}

function thresholdOf(of: Words['of']): string {
  if (isRefusal(of)) return 'A budget has refused a call'
  const threshold = of('threshold')
  return threshold === '100' ? 'A budget is used up' : `${threshold} % of a budget is used`
}

/** The calls that a budget counts. */
function budgeted(of: Words['of']): string {
  const name = of('subject_name') || of('subject')
  switch (of('scope')) {
    case 'account':
      return 'the whole account'
    case 'end_user':
      return of('end_user') ? `the end user ${of('end_user')}` : 'end users without their own'
    default:
      return `the ${of('scope')} ${name}`
  }
}

export const EN: MailTexts = {
  kinds: {
    budget_threshold: ({ account, of }) => ({
      subject: `${thresholdOf(of)}: ${account}`,
      lines: [
        `The ${PERIODS[of('period')] ?? ''} budget of ${budgeted(of)}, account ${account}:`,
        `${of('spent')} of ${of('amount')} ${UNITS[of('unit')] ?? of('currency')} used.`,
        ...(isRefusal(of) ? ['A call did not fit and was refused (402).'] : []),
        ...(of('resets_at') ? [`It resets at ${of('resets_at')}.`] : []),
        `Budget id: ${of('budget_id')}`,
      ],
    }),
    balance_low: ({ account, of }) => ({
      subject: `Low balance: ${account}`,
      lines: [
        `The balance of the account ${account} is below ${of('low_balance_at')} ${of('currency')}.`,
        `Available: ${of('available')} ${of('currency')}, on hold: ${of('held')}.`,
        'Top it up before calls are refused.',
      ],
    }),
    balance_empty: ({ account, of }) => ({
      subject: `The balance covers no more calls: ${account}`,
      lines: [
        `A call of the account ${account} was refused (402).`,
        `It needed ${of('required')} ${of('currency')}.`,
        `Available: ${of('available')}, owed: ${of('debt')}.`,
        'Calls are refused until the account is topped up.',
      ],
    }),
    key_expiring: ({ account, of }) => ({
      subject: `An API key expires on ${of('expires_at')}: ${account}`,
      lines: [
        `The API key ${of('key_name')} (${of('key')}) of the account ${account}`,
        `expires at ${of('expires_at')}. Its calls are refused from then on.`,
        'Create or rotate a key before.',
      ],
    }),
    invitation: ({ account, of }) => ({
      subject: account ? `Invitation to ${account}` : 'Invitation to run the gateway',
      lines: [
        account
          ? `You are invited to the account ${account}, with the role ${of('role')}.`
          : 'You are invited to be an operator of the gateway.',
        `The link works once, until ${of('expires_at')}:`,
        '',
        of('link'),
        '',
        'If you did not expect this, ignore it.',
      ],
    }),
    sign_up: ({ of }) => ({
      subject: 'Confirm your address',
      lines: [
        'Somebody wants to sign up with this address. If it is you, go on here:',
        '',
        of('link'),
        '',
        `The link works once, until ${of('expires_at')}.`,
        'If it is not you, ignore this: without the link nothing happens.',
      ],
    }),
    books_unbalanced: ({ of }) => ({
      subject: 'The books do not balance',
      lines: [
        `An audit found differences: ${of('failed')}.`,
        'Run `tributary audit` and read the guide "Operating the gateway".',
      ],
    }),
  },
  test: {
    subject: 'A test of Tributary’s mail',
    lines: ['If you read this, SMTP_URL and MAIL_FROM work.'],
  },
  more: 'More in the console:',
}
