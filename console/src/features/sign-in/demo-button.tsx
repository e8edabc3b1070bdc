/** Enters the demo without a password; shown only where the gateway allows it. */
import { Button, Divider, Text } from '@mantine/core'
import { Refusal } from '../../components/form/refusal.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import type { SignInAnswer } from './api.ts'
import { messages } from './messages.ts'

/** The gateway marks its page. */
const MARKED = document.documentElement.dataset.demo

interface DemoButtonProps {
  readonly onUse: (outcome: SignInAnswer) => Promise<void>
}

export function DemoButton({ onUse }: DemoButtonProps) {
  const t = useMessages(messages)
  const { data } = useAdmin('GET /session/start', {})
  const { isBusy, failure, submit } = useSubmit(async () =>
    onUse(await callAdmin('POST /session/demo', {})),
  )
  // Before the answer the page itself says it, so that nothing moves.
  const place = data ? (data.demo?.sign_in ? 'here' : data.demo && 'elsewhere') : MARKED
  if (!place) return null
  return (
    <>
      <Text size="sm" mb="sm">
        {t(place === 'here' ? 'demoText' : 'demoElsewhere')}
      </Text>
      {place === 'here' ? (
        <>
          <Button fullWidth loading={isBusy} onClick={() => submit(undefined)}>
            {t('enterDemo')}
          </Button>
          <Refusal failure={failure} />
          <Divider my="md" label={t('orSignIn')} />
        </>
      ) : null}
    </>
  )
}
