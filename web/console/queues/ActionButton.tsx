// A button that opens the dialog of an action, shown to those whose role may take it.
import { useTranslation } from 'react-i18next'
import { Button } from '../../ui/Button.tsx'
import { type ActionName, actions } from '../command/actions.ts'
import { useMay } from '../use-me.ts'

export type OpenAction = (name: ActionName, subject: string) => void

export function ActionButton(props: {
  readonly name: ActionName
  readonly subject: string
  readonly act: OpenAction
  /** Absent: the words of the action. */
  readonly label?: string
}) {
  const { t } = useTranslation()
  const may = useMay()
  const { name, subject, act, label = t(`console.command.${name}.button`) } = props
  if (!may(actions[name].permission)) return null
  return (
    <Button isSmall onClick={() => act(name, subject)}>
      {label}
    </Button>
  )
}
