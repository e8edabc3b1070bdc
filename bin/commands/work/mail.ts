/** `tributary mail`: tests the mail server. */
import type { Command } from 'commander'
import { loadConfig } from '../../../server/api/config/config.ts'
import { newId } from '../../../server/base/lib/ids.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { isMailAddress } from '../../../server/base/lib/text/smtp-url.ts'
import { renderTest } from '../../../server/work/alerts/mail/render-mail.ts'
import { sendMail } from '../../../server/work/alerts/mail/transport.ts'
import { parseLanguageOption } from '../../lib/parse.ts'
import { printJson } from '../../lib/print.ts'

interface TestOptions {
  readonly to: string
  readonly language: 'en' | 'zh'
  readonly json?: boolean
}

export function addMailCommands(program: Command): void {
  program
    .command('mail')
    .description('test the mail server')
    .command('test')
    .description('send a mail now, by SMTP_URL from MAIL_FROM; fail if the server refuses it')
    .requiredOption('--to <address>', 'who gets it')
    .option('--language <language>', 'en or zh', parseLanguageOption, 'en')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary mail test --to you@example.com')
    .action(test)
}

async function test({ to, language, json }: TestOptions): Promise<void> {
  if (!isMailAddress(to)) throw new OperatorError('--to: write an address such as you@example.com')
  const { mail, publicUrl, isPublicUrlSet } = loadConfig()
  if (!mail) throw new OperatorError('mail is off: set SMTP_URL and MAIL_FROM')
  const consoleUrl = isPublicUrlSet ? `${publicUrl}/console/` : undefined
  const id = newId('mail')
  const written = renderTest(language, consoleUrl)
  const result = await sendMail(mail, { id, address: to, language, ...written })
  const { host, port } = mail.server
  if (!result.sent) {
    const verdict = result.isFinal ? 'was refused for good' : 'was not sent'
    throw new OperatorError(`the mail ${verdict} by ${host}:${port}: ${result.error}`)
  }
  const { response } = result
  if (json) return printJson({ id, to, sent: true, server: `${host}:${port}`, response })
  console.log(
    `${host}:${port} took the mail to ${to}: ${response}\n` +
      'If it does not arrive, look in the spam folder.',
  )
}
