"""S3 and what speaks like it.

s3_store          the store, by obstore
s3_failures       what obstore says, in one sentence
s3_settings       the property names people know → S3Settings
s3_keys           keys, as obstore asks for them
credentials       keys and their end; renewed in time
credential_chain  where keys are looked for: properties, environment, web identity, profile, container, instance
sts               temporary keys
signed_call       … asked for
signature         … with a signature of ours
open_uploads      parts of large files that a killed process left in a bucket
read_policy       what the temporary keys of clients may do
"""
