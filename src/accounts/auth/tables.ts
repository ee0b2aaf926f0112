// Maps better-auth's tables and columns to ours. Its "user" is our account, its "account" a
// credential, its "verification" a code, and its "token" a secret; our tokens are those of models.

const times = { createdAt: 'created_at', updatedAt: 'updated_at' } as const

export const accounts = {
  modelName: 'accounts',
  fields: { ...times, emailVerified: 'email_confirmed' },
} as const

export const sessions = {
  modelName: 'sessions',
  fields: {
    ...times,
    userId: 'account_id',
    token: 'secret',
    expiresAt: 'expires_at',
    ipAddress: 'address',
    userAgent: 'agent',
  },
  // Our own columns: auth.ts fills them when better-auth adds a session.
  additionalFields: {
    passwordAt: { type: 'date', required: false, input: false, fieldName: 'password_at' },
    codeAt: { type: 'date', required: false, input: false, fieldName: 'code_at' },
    recoveryAt: { type: 'date', required: false, input: false, fieldName: 'recovery_at' },
    passkeyAt: { type: 'date', required: false, input: false, fieldName: 'passkey_at' },
    secretId: { type: 'number', required: false, input: false, fieldName: 'secret_id' },
    isPrivate: { type: 'boolean', input: false, defaultValue: false, fieldName: 'is_private' },
  },
} as const

export const credentials = {
  modelName: 'credentials',
  fields: {
    ...times,
    userId: 'account_id',
    accountId: 'subject',
    providerId: 'kind',
    password: 'password_hash',
    accessToken: 'oauth_access',
    refreshToken: 'oauth_refresh',
    idToken: 'oauth_identity',
    accessTokenExpiresAt: 'oauth_access_ends_at',
    refreshTokenExpiresAt: 'oauth_refresh_ends_at',
    scope: 'oauth_scope',
  },
} as const

export const accountCodes = {
  modelName: 'account_codes',
  fields: { ...times, expiresAt: 'expires_at' },
} as const

export const secondFactors = {
  user: { fields: { twoFactorEnabled: 'second_factor_on' } },
  twoFactor: {
    modelName: 'second_factors',
    fields: {
      userId: 'account_id',
      backupCodes: 'recovery_codes',
      verified: 'is_verified',
      failedVerificationCount: 'failed_count',
      lockedUntil: 'locked_until',
    },
  },
} as const

export const passkeys = {
  passkey: {
    modelName: 'passkeys',
    fields: {
      userId: 'account_id',
      publicKey: 'public_key',
      credentialID: 'credential_id',
      deviceType: 'device_type',
      backedUp: 'is_backed_up',
      createdAt: 'created_at',
    },
  },
} as const
