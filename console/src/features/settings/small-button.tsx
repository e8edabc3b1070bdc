/** Small buttons beside a row. */
import { Button, type ButtonProps } from '@mantine/core'
import { useSubmit } from '../../components/form/use-submit.ts'
import { notifyFailed } from '../../components/state/notify.ts'

interface SmallButtonProps extends ButtonProps {
  readonly onClick: () => void
}

export function SmallButton(props: SmallButtonProps) {
  return <Button variant="default" size="compact-sm" {...props} />
}

interface ActButtonProps extends ButtonProps {
  readonly onAct: () => Promise<unknown>
}

/** Acts at once, one time until the answer is there; a refusal is a toast. */
export function ActButton({ onAct, ...props }: ActButtonProps) {
  const { isBusy, submit } = useSubmit(async () => {
    await onAct().catch(notifyFailed)
  })
  return <SmallButton {...props} loading={isBusy} onClick={() => submit(undefined)} />
}
