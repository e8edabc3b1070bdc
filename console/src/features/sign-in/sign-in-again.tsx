/** Covers a page in use whose session has ended, until the same person has signed in again. */
import { Button, Group, Modal, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Refusal } from '../../components/form/refusal.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { useIsOnTop } from '../../components/state/on-top.ts'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { keepPage, leavePage, useSessionEnd } from '../../lib/session-end.ts'
import { messages } from './messages.ts'

export function SignInAgain() {
  return useSessionEnd() ? <Cover /> : null
}

/** Nothing of the page can be seen behind it. Signing in elsewhere in this browser is noticed. */
function Cover() {
  const t = useMessages(messages)
  const client = useQueryClient()
  useIsOnTop(true)
  const { user } = useSession().session
  const [personId] = useState(user.id)
  const { isBusy, failure, submit } = useSubmit(async () => {
    const { session } = await callAdmin('GET /session/start', {})
    if (!session) throw new Error(t('endedStill'))
    // Another person must see nothing of the page.
    if (session.user.id === personId) keepPage(client)
    else leavePage(client)
  })
  const look = useRef(submit)
  look.current = submit
  useEffect(() => {
    const onFocus = () => look.current(undefined)
    window.addEventListener('focus', onFocus)
    return () => window.removeEventListener('focus', onFocus)
  }, [])
  return (
    <Modal
      opened
      onClose={() => undefined}
      title={t('endedTitle')}
      size="sm"
      zIndex={1000}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      overlayProps={{ backgroundOpacity: 1, color: 'var(--canvas)' }}
    >
      <Text size="sm" mb="xs">
        {t('endedText')}
      </Text>
      <Refusal failure={failure} />
      <Group justify="flex-end" gap="xs" mt="sm">
        <Button variant="subtle" onClick={() => leavePage(client)}>
          {t('endedLeave')}
        </Button>
        <Button variant="default" loading={isBusy} onClick={() => submit(undefined)}>
          {t('endedGoOn')}
        </Button>
        <Button component="a" href="/console/sign-in" target="_blank" data-autofocus>
          {t('signIn')}
        </Button>
      </Group>
    </Modal>
  )
}
