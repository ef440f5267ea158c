"""Places to publish to (FTP, FTPS, SFTP, a folder) behind one face, and what is sent there. No tools stand here."""
