"""What mails say, in every language of the console. Knows nobody and sends nothing."""
