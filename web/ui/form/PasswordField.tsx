// A password field: the password can be shown, pasted and filled in by a password manager. Below a
// new password stand the rule and how much is missing; only its length matters.
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { controlClasses, earlyChange, Field, type TextFieldProps } from './Field.tsx'

/** The server's limits: shorter passwords can be guessed, and nobody types longer ones. */
export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 128

export function PasswordField(props: TextFieldProps & { readonly isNew?: boolean }) {
  const { label, hint, error, isOptional, onChange, isNew = false, ...native } = props
  const { t } = useTranslation()
  const [isShown, setShown] = useState(false)
  const length = [...native.value].length
  const rule =
    length === 0 || length >= PASSWORD_LENGTH_MIN
      ? t('password.rule', { min: PASSWORD_LENGTH_MIN })
      : t('password.more', { count: PASSWORD_LENGTH_MIN - length })
  return (
    <Field
      {...{ label, error, isOptional }}
      hint={hint ?? (isNew ? rule : undefined)}
      onEarly={earlyChange(native.value, onChange)}
    >
      {(attributes) => (
        <div className="relative">
          <input
            name="password"
            autoComplete={isNew ? 'new-password' : 'current-password'}
            {...native}
            {...attributes}
            type={isShown ? 'text' : 'password'}
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            maxLength={1_000}
            onChange={(event) => onChange(event.target.value)}
            className={`${controlClasses} pe-12`}
          />
          <button
            type="button"
            aria-pressed={isShown}
            aria-label={t('password.show')}
            title={t(isShown ? 'password.hide' : 'password.show')}
            onClick={() => setShown(!isShown)}
            className="absolute end-1 top-1/2 grid size-9 -translate-y-1/2 place-items-center
              rounded-part text-soft hover:bg-sunk hover:text-ink"
          >
            {isShown ? (
              <EyeOff aria-hidden className="size-4.5" />
            ) : (
              <Eye aria-hidden className="size-4.5" />
            )}
          </button>
        </div>
      )}
    </Field>
  )
}
